/* Sliders, numbers and choices that change the state. */
"use strict";

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
    row.dataset.name = label.name || label.text;
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

function choiceRow({ text, title, name }, literals, value, first, onValue) {
    const select = element("select", {}, ...Object.entries(literals).map(([name, number]) =>
        element("option", { value: number, textContent: name, selected: number === value })));
    const row = element("div", { className: "row", title });
    row.dataset.name = name || text;
    select.addEventListener("change", () => {
        const chosen = typeof first === "number" ? Number(select.value) : select.value;
        row.classList.toggle("changed", chosen !== first);
        onValue(chosen);
    });
    row.classList.toggle("changed", value !== first);
    row.append(element("label", { textContent: text }), select);
    return row;
}

/* By the name for people, if it has one. */
const labelOf = ({ name, label, about }) => ({ text: label || name, name, title: label ? `${name}: ${about}` : about });

function parameterRow(slave, parameter) {
    const value = startOf(slave, parameter), put = (number) => setStart(slave, parameter, number);
    const label = labelOf(parameter);
    if (parameter.type === "Boolean")
        return choiceRow(label, { no: 0, yes: 1 }, value, parameter.value, put);
    if (Object.keys(parameter.literals).length)
        return choiceRow(label, parameter.literals, value, parameter.value, put);
    if (parameter.type === "Integer")
        label.refuse = (number) => (Number.isInteger(number) ? "" : "is no whole number");
    return numberRow(label, parameter.unit, parameter, value, parameter.value, put);
}

function driveRows(slave, input) {
    const name = `${slave.name}.${input.name}`;
    const own = () => ({ shape: "none", size: USUAL[input.unit] || 1, time: state.stop / 4, frequency: 2, ...state.drives[name] });
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
            step: "step", sine: "sine", ...(shape === "hand" ? { "by hand": "hand" } : {}) };
        rows.replaceChildren(choiceRow(labelOf(input), choices, shape, "none", (text) => {
            change({ shape: text });
            fill();
        }));
        if (shape !== "none" && shape !== "hand")
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
    const more = (title, items, row) => { // rows are made when they are looked at
        if (!items.length)
            return [];
        const box = element("details", {}, element("summary", { textContent: title }));
        box.addEventListener("toggle", () => box.append(...items.map(row)), { once: true });
        return [box];
    };
    const inputs = slave.free.filter((one) => !isDriven(one));
    return [heading, ...first.map((one) => parameterRow(slave, one)),
        ...more(`${rest.length} more parameters`, rest, (one) => parameterRow(slave, one)),
        ...slave.free.filter(isDriven).map((one) => driveRows(slave, one)),
        ...more(`${inputs.length} inputs`, inputs, (one) => driveRows(slave, one))];
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
        box.append(choiceRow({ text: "algorithm", title: "" }, names, state.algorithm, experiment.algorithm, put("algorithm")));
    }
    if (coupled().length)
        box.append(choiceRow({ text: "hold beside it", title: "the same run with a force that is held over each step, dashed" },
            { no: 0, yes: 1 }, state.compare ? 1 : 0, 1, (value) => {
                state.compare = value === 1;
                request();
            }));
    box.append(...SYSTEM.slaves.flatMap(slaveControls));
    box.append(element("div", { className: "buttons" }, button("as at first", () => {
        Object.assign(state, { step: experiment.step, stop: experiment.stop, algorithm: experiment.algorithm, starts: {}, drives: {} });
        isDrawn = false; // what rests without a drive gets its first one again
        controls();
        changed();
    }), button("copy scenario", (event) => copy(event, scenarioText())),
    ...(location.protocol === "about:" ? [] : [button("copy link", (event) => copy(event, location.href))]))); // a frame has none
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
    target.dataset.label ??= target.textContent; // a second click may come before the first label is back
    target.textContent = "copied";
    setTimeout(() => (target.textContent = target.dataset.label), 1000);
}
