/* The curves of a page, and its beginning. */
"use strict";

const UNITS = Object.fromEntries(SYSTEM.slaves.flatMap((slave) =>
    slave.signals.map((one) => [`${slave.name}.${one.name}`, one.unit || "1"])));
const alone = SYSTEM.slaves.length === 1;
const LABELS = Object.fromEntries(SYSTEM.slaves.flatMap((slave) =>
    slave.signals.filter((one) => one.label).map((one) => [`${slave.name}.${one.name}`, one.label])));
const shortName = (name) => LABELS[name] || (alone ? name.slice(SYSTEM.slaves[0].name.length + 1) : name);
let isDrawn = false;
let plots = {}, pointed = null, view = null;

function rank(unit) {
    const at = ORDER.indexOf(unit);
    return at < 0 ? ORDER.length : at;
}

function largestChange(values) {
    let most = 0;
    for (const value of values) {
        const change = Math.abs(value - values[0]);
        if (change > most)
            most = change;
    }
    return most;
}

/* The signals that a page begins with: those that move, of the first units, motion and forces before the rest. */
function chooseSignals(values) {
    const changes = {};
    for (const [name, own] of Object.entries(values)) {
        const change = /(^|\.)(solver|coupling|power)\./.test(name) ? 0 : largestChange(own);
        if (change > ROUNDING * (Math.abs(own[0]) + change))
            changes[name] = change;
    }
    const moving = Object.keys(changes);
    const units = [...new Set(moving.map((name) => UNITS[name]))].sort((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
    const same = (a, b, sign) => values[a].every((value, k) => Math.abs(value - sign * values[b][k]) <= 1e-9);
    return units.flatMap((unit) => {
        const of = moving.filter((name) => UNITS[name] === unit);
        const once = of.filter((name, k) => !of.slice(0, k).some((before) => same(name, before, 1) || same(name, before, -1)));
        const largest = Math.max(...once.map((name) => changes[name]));
        const seen = once.filter((name) => changes[name] > 1e-3 * largest).sort((a, b) => changes[b] - changes[a]).slice(0, CURVES);
        return once.filter((name) => seen.includes(name));
    });
}

function show() {
    const [own, other] = latest.runs;
    if (own.time.length < 2) { // refused at the start, or in the first step: the curves stay
        fail(own.failure);
        document.body.dataset.shown = latest.number;
        return;
    }
    const isFirst = !isDrawn;
    if (isFirst || state.shown === null) {
        const chosen = state.shown || chooseSignals(own.values);
        const rests = chosen.every((name) => largestChange(own.values[name]) === 0);
        if (rests && !Object.keys(state.drives).length && driveSomething())
            return;
        state.shown = chosen;
        isDrawn = true;
    }
    const units = [...new Set(state.shown.map((name) => UNITS[name]))].sort((a, b) => rank(a) - rank(b));
    for (const unit of Object.keys(plots).filter((one) => !units.includes(one))) {
        plots[unit].box.remove();
        delete plots[unit];
    }
    const there = Object.keys(plots);
    for (const unit of units)
        plots[unit] = plots[unit] || new Plot(byId("plots"), unit, point);
    if (Object.keys(plots).length > there.length)
        byId("plots").append(...units.map((unit) => plots[unit].box)); // in order
    for (const unit of units) {
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
    if (isFirst)
        performance.mark("first curves");
    drawLaws();
    if (isFirst && compared())
        request(); // once more, with the other one
    else
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

/* When they are looked for: there may be thousands. */
function listSignals() {
    byId("signals").replaceChildren(...Object.keys(UNITS).map((name) => {
        const box = element("input", { type: "checkbox", checked: (state.shown || []).includes(name) });
        box.addEventListener("change", () => {
            const others = (state.shown || []).filter((one) => one !== name); // null where the first run is refused
            state.shown = box.checked ? [...others, name] : others;
            request();
        });
        return element("label", { title: UNITS[name] }, box, ` ${shortName(name)}`);
    }));
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

if (!able) {
    fail("This browser has no WebAssembly, or is too old to unpack it: the page stays as it is.");
} else {
    controls();
    byId("scene").hidden = SYSTEM.scene.items.length === 0;
    view = SYSTEM.scene.items.length ? new View(byId("view"), byId("player")) : null;
    if (view) {
        view.hand = new Hand(view);
        if (view.hand.points.length)
            byId("view").title = "Drag a point with a ring; drag elsewhere to turn";
    }
    byId("signals").parentElement.addEventListener("toggle", listSignals);
    darkness.addEventListener("change", () => {
        restyle();
        lawsDrawn = "";
        if (latest)
            show();
    });
    if (window.parent !== window) { // the page around it has the heading, and makes room
        document.documentElement.className = "framed";
        new ResizeObserver(() => window.parent.postMessage({ height: document.body.offsetHeight }, "*")).observe(document.body);
    }
}
