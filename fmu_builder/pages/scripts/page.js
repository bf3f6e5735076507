/* The page: controls that change the system, its runs in a worker, and the curves. */
"use strict";

const SYSTEM = JSON.parse(document.getElementById("system").textContent);
const HOLD = "hold", MODE = "coupling.mode";
const SHOWN = 4, CURVES = 6; // panels, and curves in each, that a page begins with
const SETTLED = 150; // ms without a change, after which the address takes the state
const PATIENCE = 300; // ms that a run may go on when another one waits
const ORDER = ["m", "rad", "m/s", "rad/s", "N", "N.m", "J", "W"];

const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}

/* ---- what the user has chosen ------------------------------------------------------------------------------------ */

const state = {
    step: SYSTEM.experiment.step,
    stop: SYSTEM.experiment.stop,
    algorithm: SYSTEM.experiment.algorithm,
    starts: {}, // {slave: {name: value}}, changed ones only
    drives: {}, // {"slave.name": {shape, size, time, frequency}}
    compare: SYSTEM.slaves.some((slave) => slave.mode),
    shown: null, // names of signals
};

const parameterOf = (slave, name) => slave.parameters.find((one) => one.name === name);
const startOf = (slave, parameter) => (state.starts[slave.name] || {})[parameter.name] ?? parameter.value;

function setStart(slave, parameter, value) {
    const own = (state.starts[slave.name] = state.starts[slave.name] || {});
    if (value === parameter.value)
        delete own[parameter.name];
    else
        own[parameter.name] = value;
    changed();
}

function fragment() {
    const parts = [];
    for (const key of ["step", "stop", "algorithm"])
        if (state[key] !== SYSTEM.experiment[key])
            parts.push(`${key}=${state[key]}`);
    for (const [slave, given] of Object.entries(state.starts))
        for (const [name, value] of Object.entries(given))
            parts.push(`${encodeURIComponent(`${slave}.${name}`)}=${value}`);
    for (const [name, drive] of Object.entries(state.drives))
        parts.push(`${encodeURIComponent(`~${name}`)}=${drive.shape},${drive.size},${drive.time},${drive.frequency}`);
    return parts.join("&");
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch { // not written by a page
        return "";
    }
}

const freeInput = (name) => SYSTEM.slaves.flatMap((slave) =>
    slave.free.filter((one) => `${slave.name}.${one.name}` === name))[0];

function readFragment() {
    for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
        const at = part.lastIndexOf("="), key = decoded(part.slice(0, at)), text = part.slice(at + 1);
        if (key === "algorithm" && Object.hasOwn(SYSTEM.algorithms, text)) {
            state.algorithm = text;
        } else if ((key === "step" || key === "stop") && +text > 0) {
            state[key] = +text;
        } else if (key.startsWith("~")) {
            const [shape, ...numbers] = text.split(","), [size, time, frequency] = numbers.map(Number);
            if (Object.hasOwn(SHAPES, shape) && numbers.length === 3 && [size, time, frequency].every(Number.isFinite)
                && freeInput(key.slice(1)))
                state.drives[key.slice(1)] = { shape, size, time, frequency };
        } else {
            const slave = SYSTEM.slaves.find((one) => key.startsWith(`${one.name}.`));
            const parameter = slave && parameterOf(slave, key.slice(slave.name.length + 1));
            if (parameter && text !== "" && Number.isFinite(+text))
                (state.starts[slave.name] = state.starts[slave.name] || {})[parameter.name] = +text;
        }
    }
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

let worker, modules, busy = 0, waiting = false, number = 0, latest = null, begun = 0;

function startWorker() {
    const source = byId("engine").textContent + byId("worker").textContent;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.onmessage = ({ data }) => received(data);
    worker.postMessage({ system: SYSTEM, modules });
    busy = 0;
}

function received(data) {
    if (data.unable) {
        fail(`This browser cannot run the FMUs: ${data.unable}`);
    } else if (data.modules) {
        modules = data.modules;
        request();
    } else if (data.share !== undefined) {
        byId("state").className = "";
        byId("state").replaceChildren(element("progress", { value: data.share }), " running");
    } else if (data.fault) {
        busy = 0;
        fail(data.fault);
        document.body.dataset.shown = data.number;
        if (waiting)
            request();
    } else {
        busy = 0;
        latest = data;
        if (waiting)
            request();
        show();
    }
}

function fail(text) {
    byId("state").className = "failed";
    byId("state").textContent = text;
}

/* Asks for a run; while one is on its way the next one waits, or takes its place when it takes long. */
function request() {
    if (!modules)
        return;
    if (busy && performance.now() - begun > PATIENCE) {
        worker.terminate();
        waiting = false;
        startWorker(); // which asks again
        return;
    }
    if (busy) {
        waiting = true;
        setTimeout(() => waiting && request(), PATIENCE);
        return;
    }
    waiting = false;
    begun = performance.now();
    busy = ++number;
    const record = state.shown === null ? null : state.shown;
    const own = { starts: state.starts, step: state.step, stop: state.stop, algorithm: state.algorithm, record,
        drives: drives() };
    worker.postMessage({ number, runs: compared() ? [own, { ...own, starts: held() }] : [own] });
}

/* Those that the user has chosen; a driven position drives its velocity as well. */
function drives() {
    return SYSTEM.slaves.flatMap((slave) => slave.free.flatMap((input) => {
        const own = (one) => state.drives[`${slave.name}.${one.name}`];
        const drive = own(input), rate = slave.free.find((one) => one.name === input.rate);
        const put = (one, isSlope) => ({ slave: slave.name, family: "Real", reference: one.reference, isSlope, ...drive });
        return drive ? [put(input, false), ...(rate && !own(rate) ? [put(rate, true)] : [])] : [];
    }));
}

const coupled = () => SYSTEM.slaves.filter((slave) => slave.mode);
const modeOf = (slave) => startOf(slave, parameterOf(slave, MODE));
const held = () => {
    const starts = structuredClone(state.starts);
    for (const slave of coupled())
        (starts[slave.name] = starts[slave.name] || {})[MODE] = parameterOf(slave, MODE).literals[HOLD];
    return starts;
};
const compared = () => state.compare && coupled().some((slave) => modeOf(slave) !== parameterOf(slave, MODE).literals[HOLD]);

let later;

/* The address follows when the slider rests: browsers limit how often it may change. */
function changed() {
    request();
    clearTimeout(later);
    later = setTimeout(() => {
        try {
            history.replaceState(null, "", `#${fragment()}`);
        } catch { // the page runs on without
        }
    }, SETTLED);
}

/* ---- curves ------------------------------------------------------------------------------------------------------ */

const UNITS = Object.fromEntries(SYSTEM.slaves.flatMap((slave) =>
    slave.signals.map((one) => [`${slave.name}.${one.name}`, one.unit || "1"])));
const alone = SYSTEM.slaves.length === 1;
const shortName = (name) => (alone ? name.slice(SYSTEM.slaves[0].name.length + 1) : name);
let plots = {}, pointed = null, view = null;

function rank(unit) {
    const at = ORDER.indexOf(unit);
    return at < 0 ? ORDER.length : at;
}

/* The signals that a page begins with: those that move, of the first units, motion and forces before the rest. */
function chooseSignals(values) {
    const moving = Object.keys(values).filter((name) => {
        const own = values[name];
        const most = own.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
        return !/(^|\.)(solver|coupling|power)\./.test(name) && own.some((value) => Math.abs(value - own[0]) > ROUNDING * most);
    });
    const units = [...new Set(moving.map((name) => UNITS[name]))].sort((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
    const amplitude = (name) => values[name].reduce((most, value) => Math.max(most, Math.abs(value - values[name][0])), 0);
    const same = (a, b, sign) => values[a].every((value, k) => Math.abs(value - sign * values[b][k]) <= 1e-9);
    return units.flatMap((unit) => {
        const of = moving.filter((name) => UNITS[name] === unit);
        const once = of.filter((name, k) => !of.slice(0, k).some((before) => same(name, before, 1) || same(name, before, -1)));
        const own = once.map((name) => [name, amplitude(name)]);
        const largest = Math.max(...own.map((one) => one[1]));
        const seen = own.filter((one) => one[1] > 1e-3 * largest).sort((a, b) => b[1] - a[1]).slice(0, CURVES);
        return own.filter((one) => seen.includes(one)).map((one) => one[0]);
    });
}

function show() {
    const [own, other] = latest.runs;
    if (own.time.length === 0) { // refused at the start: the curves stay
        fail(own.failure);
        document.body.dataset.shown = latest.number;
        return;
    }
    if (state.shown === null) {
        const chosen = chooseSignals(own.values);
        if (chosen.length === 0 && !Object.keys(state.drives).length && driveSomething())
            return;
        state.shown = chosen;
        listSignals();
    }
    const units = [...new Set(state.shown.map((name) => UNITS[name]))].sort((a, b) => rank(a) - rank(b));
    for (const unit of Object.keys(plots).filter((one) => !units.includes(one))) {
        plots[unit].box.remove();
        delete plots[unit];
    }
    for (const unit of units) {
        plots[unit] = plots[unit] || new Plot(byId("plots"), unit, point);
        byId("plots").append(plots[unit].box); // in order
        const names = state.shown.filter((name) => UNITS[name] === unit);
        const curves = names.map((name, k) => ({
            name: shortName(name), values: own.values[name], colour: COLOURS[k % COLOURS.length] }));
        const faint = other ? names.map((name, k) => ({
            name: `${shortName(name)}, hold`, values: other.values[name], colour: COLOURS[k % COLOURS.length], faint: true })) : [];
        plots[unit].show(own.time, [...faint, ...curves], pointed);
    }
    const failure = own.failure || (other && other.failure && `with hold: ${other.failure}`);
    if (failure)
        fail(failure);
    else {
        byId("state").className = "";
        const messages = [...new Set(own.log.map((one) => `${one.slave}: ${one.text}`))].slice(0, 3).join("\n");
        byId("state").textContent = `${own.time.length - 1} steps${other ? ", twice," : ""} in ${latest.took.toFixed(1)} ms`
            + (messages ? `\n${messages}` : "");
    }
    if (SYSTEM.scene.items.length)
        view.show(SYSTEM.scene.items, own, other);
    document.body.dataset.shown = latest.number;
}

const USUAL = { m: 1e-3, rad: 0.1, "m/s": 0.01, "rad/s": 1, N: 1, "N.m": 1 }; // amplitudes of drives, SI

/* Where nothing moves, as in a force element alone, the page begins with a sine at one of its inputs, a position or an
 * angle if it has one.   Returns whether there is one. */
function driveSomething() {
    const free = SYSTEM.slaves.flatMap((slave) => slave.free.map((one) => [`${slave.name}.${one.name}`, one]));
    const rating = ([name, one]) => ["m", "rad", "m/s", "rad/s"].indexOf(one.unit) * 2 + (/r\[[12]\]$/.test(name) ? 1 : 0);
    const found = free.filter(([, one]) => one.unit in USUAL && one.unit !== "N" && one.unit !== "N.m")
        .sort((a, b) => rating(a) - rating(b))[0];
    if (!found)
        return false;
    const [name, { unit }] = found, length = state.stop - SYSTEM.experiment.start;
    state.drives[name] = { shape: "sine", size: USUAL[unit], time: length / 4, frequency: +(3 / length).toPrecision(2) };
    controls();
    request();
    return true;
}

function point(sample) {
    pointed = sample;
    for (const plot of Object.values(plots)) {
        plot.at = sample;
        plot.draw();
    }
    if (view && sample !== null && !view.playing)
        view.at(sample);
}

function listSignals() {
    byId("signals").replaceChildren(...Object.keys(UNITS).map((name) => {
        const box = element("input", { type: "checkbox", checked: state.shown.includes(name) });
        box.addEventListener("change", () => {
            state.shown = box.checked ? [...state.shown, name] : state.shown.filter((one) => one !== name);
            request();
        });
        return element("label", { title: UNITS[name] }, box, ` ${shortName(name)}`);
    }));
}

/* ---- controls ---------------------------------------------------------------------------------------------------- */

function slider({ low, high, logarithmic, type }, value, onValue) {
    const whole = type === "Integer";
    const position = (number) => {
        const share = logarithmic ? Math.log(Math.max(number, low) / low) / Math.log(high / low) : (number - low) / (high - low);
        return Math.min(Math.max(share || 0, 0), 1); // 0/0 where there is no range
    };
    const input = element("input", { type: "range", min: 0, max: 1, step: 0.001 });
    input.value = position(value);
    input.addEventListener("input", () => {
        const number = logarithmic ? low * (high / low) ** input.value : low + (high - low) * input.value;
        onValue(whole ? Math.round(number) : +number.toPrecision(3));
    });
    return { input, move: (number) => (input.value = position(number)) };
}

/* A number with a slider; what is typed is not bounded, for the FMU itself says what it refuses. */
function numberRow(label, unit, range, value, first, onValue) {
    const box = element("input", { className: "number", value: short(value), inputMode: "decimal" });
    const row = element("div", { className: "row", title: label.title || "" });
    row.dataset.name = label.text;
    const mark = (number) => row.classList.toggle("changed", number !== first);
    const own = slider(range, value, (number) => {
        box.value = short(number);
        mark(number);
        onValue(number);
    });
    box.addEventListener("change", () => {
        const number = Number(box.value);
        const refusal = box.value.trim() === "" || !Number.isFinite(number) ? "is no number" : (label.refuse || (() => ""))(number);
        if (refusal) {
            fail(`${label.text}: '${box.value}' ${refusal}`);
            return;
        }
        own.move(number);
        mark(number);
        onValue(number);
    });
    mark(value);
    row.append(element("label", { textContent: label.text }), element("span", { className: "value" }, box,
        element("small", { textContent: unit })), own.input);
    return row;
}

function choiceRow(text, title, literals, value, first, onValue) {
    const select = element("select", {}, ...Object.entries(literals).map(([name, number]) =>
        element("option", { value: number, textContent: name, selected: number === value })));
    const row = element("div", { className: "row", title });
    row.dataset.name = text;
    select.addEventListener("change", () => {
        const chosen = typeof first === "number" ? Number(select.value) : select.value;
        row.classList.toggle("changed", chosen !== first);
        onValue(chosen);
    });
    row.classList.toggle("changed", value !== first);
    row.append(element("label", { textContent: text }), select);
    return row;
}

function parameterRow(slave, parameter) {
    const value = startOf(slave, parameter), put = (number) => setStart(slave, parameter, number);
    if (parameter.type === "Boolean")
        return choiceRow(parameter.name, parameter.about, { no: 0, yes: 1 }, value, parameter.value, put);
    if (Object.keys(parameter.literals).length)
        return choiceRow(parameter.name, parameter.about, parameter.literals, value, parameter.value, put);
    return numberRow({ text: parameter.name, title: parameter.about }, parameter.unit, parameter, value,
        parameter.value, (number) => put(parameter.type === "Real" ? number : Math.round(number)));
}

function driveRows(slave, input) {
    const name = `${slave.name}.${input.name}`;
    const own = () => state.drives[name] || { shape: "none", size: USUAL[input.unit] || 1, time: state.stop / 4, frequency: 2 };
    const rows = element("div"), change = (part) => {
        const next = { ...own(), ...part };
        if (next.shape === "none")
            delete state.drives[name];
        else
            state.drives[name] = next;
        changed();
    };
    const fill = () => {
        const { shape, size, time, frequency } = own(), choices = { "as it starts": "none", constant: "constant",
            step: "step", sine: "sine" };
        rows.replaceChildren(choiceRow(input.name, input.about, choices, shape, "none", (text) => {
            change({ shape: text });
            fill();
        }));
        if (shape !== "none")
            rows.append(numberRow({ text: "size" }, input.unit, { low: -10 * (USUAL[input.unit] || 1), high: 10 * (USUAL[input.unit] || 1) }, size, size, (number) => change({ size: number })));
        if (shape === "step")
            rows.append(numberRow({ text: "at" }, "s", { low: SYSTEM.experiment.start, high: state.stop }, time, time,
                (number) => change({ time: number })));
        if (shape === "sine")
            rows.append(numberRow({ text: "frequency" }, "Hz", { low: 0.1, high: 100, logarithmic: true }, frequency,
                frequency, (number) => change({ frequency: number })));
    };
    fill();
    return rows;
}

const MOST_OPEN = 8; // parameters of a slave without given start values
const INNER = /^(.*\.)?(solver|contact_record|coupling)\./; // parameters for those who look for them

function slaveControls(slave) {
    const given = slave.parameters.filter((one) => one.given || one.name === MODE);
    const usual = slave.parameters.filter((one) => one.name === MODE || !INNER.test(one.name));
    const open = given.length > (slave.mode ? 1 : 0) ? given : usual.slice(0, MOST_OPEN);
    const changedOnes = Object.keys(state.starts[slave.name] || {});
    const first = slave.parameters.filter((one) => open.includes(one) || changedOnes.includes(one.name));
    const rest = slave.parameters.filter((one) => !first.includes(one));
    const isDriven = (one) => `${slave.name}.${one.name}` in state.drives;
    const heading = element("h2", {}, alone ? slave.model : slave.name, " ",
        element("small", { textContent: alone ? "" : slave.model }));
    const more = (title, rows) => (rows.length ? [element("details", {}, element("summary", { textContent: title }), ...rows)] : []);
    return [heading, ...first.map((one) => parameterRow(slave, one)),
        ...more(`${rest.length} more parameters`, rest.map((one) => parameterRow(slave, one))),
        ...slave.free.filter(isDriven).map((one) => driveRows(slave, one)),
        ...more(`${slave.free.length} inputs`, slave.free.filter((one) => !isDriven(one)).map((one) => driveRows(slave, one)))];
}

function controls() {
    const { experiment } = SYSTEM, put = (key) => (value) => {
        state[key] = value;
        changed();
    };
    const length = experiment.stop - experiment.start;
    const positive = (number) => (number > 0 ? "" : "must be greater than 0 s");
    const after = (number) => (number > experiment.start ? "" : `must be greater than the start, ${experiment.start} s`);
    const box = byId("controls");
    box.replaceChildren(element("h2", { textContent: "Run" }),
        numberRow({ text: "communication step", refuse: positive }, "s",
            { low: experiment.step / 100, high: experiment.step * 100, logarithmic: true }, state.step, experiment.step, put("step")),
        numberRow({ text: "stop", refuse: after }, "s",
            { low: experiment.start + length / 10, high: experiment.start + 4 * length }, state.stop, experiment.stop, put("stop")));
    if (!alone) {
        const names = Object.fromEntries(Object.keys(SYSTEM.algorithms).map((name) => [name.replace("_", "-"), name]));
        box.append(choiceRow("algorithm", "", names, state.algorithm, experiment.algorithm, put("algorithm")));
    }
    if (coupled().length)
        box.append(choiceRow("hold beside it", "the same run with a force that is held over each step, dashed",
            { no: 0, yes: 1 }, state.compare ? 1 : 0, 1, (value) => {
                state.compare = value === 1;
                request();
            }));
    box.append(...SYSTEM.slaves.flatMap(slaveControls));
    box.append(element("div", { className: "buttons" }, button("as at first", () => {
        Object.assign(state, { step: experiment.step, stop: experiment.stop, algorithm: experiment.algorithm, starts: {}, drives: {} });
        controls();
        changed();
    }), button("copy scenario", (event) => copy(event, scenarioText())),
    button("copy link", (event) => copy(event, location.href))));
}

function button(text, onClick) {
    const made = element("button", { type: "button", textContent: text });
    made.addEventListener("click", onClick);
    return made;
}

async function copy(event, text) {
    const { target } = event;
    try {
        await navigator.clipboard.writeText(text);
    } catch { // pages of the file system may not
        const area = element("textarea", { value: text });
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
    const before = target.textContent;
    target.textContent = "copied";
    setTimeout(() => (target.textContent = before), 1000);
}

/* A value of TOML. */
function toml(value) {
    if (Array.isArray(value))
        return `[${value.map(toml).join(", ")}]`;
    if (value !== null && typeof value === "object")
        return `{ ${Object.entries(value).map(([key, one]) => `${tomlKey(key)} = ${toml(one)}`).join(", ")} }`;
    return typeof value === "number" && !Number.isInteger(value) ? String(value).replace(/^(-?\d+)e/, "$1.0e") : JSON.stringify(value);
}

const tomlKey = (key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/* The start values of a slave as the scenario gives them, with the changes. */
function startsOf(slave) {
    const starts = structuredClone(slave.entry.start || {});
    for (const [name, number] of Object.entries(state.starts[slave.name] || {})) {
        const parameter = parameterOf(slave, name), [, base, index] = /^(.*)\[(\d+)\]$/.exec(name) || [];
        const literal = Object.entries(parameter.literals).find((one) => one[1] === number);
        const value = literal ? literal[0] : parameter.type === "Boolean" ? number === 1 : number;
        if (base !== undefined && Array.isArray(starts[base]))
            starts[base][index - 1] = value;
        else
            starts[name] = value;
    }
    return starts;
}

/* The state as a scenario file: that of the page, with the changes. */
function scenarioText() {
    const lines = [`description = ${toml(SYSTEM.description)}`, `connections = ${toml(SYSTEM.connections)}`,
        ...(SYSTEM.freeMoment ? ["free_moment = true"] : []), "", "[experiment]", `start = ${toml(SYSTEM.experiment.start)}`,
        `stop = ${toml(state.stop)}`, `step = ${toml(state.step)}`, `algorithm = ${toml(state.algorithm)}`];
    if (SYSTEM.experiment.tolerance !== null)
        lines.push(`tolerance = ${toml(SYSTEM.experiment.tolerance)}`);
    if (state.algorithm === "gauss_seidel" && SYSTEM.experiment.order !== "listed")
        lines.push(`order = ${toml(SYSTEM.experiment.order)}`);
    for (const slave of SYSTEM.slaves) {
        const starts = startsOf(slave), ticks = SYSTEM.ticks[slave.name];
        lines.push("", `[slaves.${tomlKey(slave.name)}]`, `recipe = ${toml(slave.recipe)}`);
        if (ticks > 1)
            lines.push(`step = ${toml(ticks * state.step)}`);
        if (Object.keys(starts).length)
            lines.push(`start = ${toml(starts)}`);
    }
    const shapes = Object.entries(state.drives).map(([name, drive]) => {
        const { unit } = freeInput(name), size = `${drive.size}${unit && `[${unit}]`}`;
        const law = { constant: size, step: `#t < ${drive.time}[s] -> 0${unit && `[${unit}]`}, ${size}`,
            sine: `${size}*sin(2*PI*${drive.frequency}[Hz]*#t)` }[drive.shape];
        return `${tomlKey(name)} = ${toml(law)}`;
    });
    const driven = Object.entries(SYSTEM.driven).map(([name, drive]) => `${tomlKey(name)} = ${toml(drive)}`);
    if (shapes.length || driven.length)
        lines.push("", "[drive]", ...shapes, ...driven);
    return lines.join("\n") + "\n";
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined")
    fail("This browser has no WebAssembly, or is too old to unpack it: the page stays as it is.");
else {
    readFragment();
    controls();
    byId("scene").hidden = SYSTEM.scene.items.length === 0;
    view = SYSTEM.scene.items.length ? new View(byId("view"), byId("player")) : null;
    startWorker();
    new ResizeObserver(() => Object.values(plots).forEach((plot) => plot.draw())).observe(byId("plots"));
}
