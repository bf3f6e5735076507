/* What the user of a page has chosen, and how an address and a scenario file write it. */
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

const state = {
    step: SYSTEM.experiment.step,
    stop: SYSTEM.experiment.stop,
    algorithm: SYSTEM.experiment.algorithm,
    starts: {}, // {slave: {name: value}}, changed ones only
    drives: {}, // {"slave.name": {shape, size, time, frequency}}, of a hand {shape, every, exponent, points}
    compare: SYSTEM.slaves.some((slave) => slave.mode),
    shown: SYSTEM.plot.length ? SYSTEM.plot : null, // names of signals; null: chosen after the first run
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
        parts.push(`${encodeURIComponent(`~${name}`)}=${drive.shape === "hand" ? handText(drive)
            : `${drive.shape},${drive.size},${drive.time},${drive.frequency}`}`);
    return parts.join("&");
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch { // not written by a page
        return "";
    }
}

/* ---- a hand -------------------------------------------------------------------------------------------------------- */

/* points  whole numbers of 10^exponent m, or rad, at the start and each `every` s later */
const rounded = (value, exponent) => Math.round(value / 10 ** exponent);

function handText({ every, exponent, points }) {
    return `hand,${every},${exponent},${points.map((one, k) => (k ? one - points[k - 1] : one)).join(".")}`;
}

function readHand([every, exponent, changes = ""]) {
    let point = 0;
    const points = changes.split(".").map((one) => (point += Number(one)));
    const isGood = +every > 0 && Number.isFinite(+every) && Math.abs(+exponent) < 30 && Number.isInteger(+exponent)
        && changes !== "" && points.every(Number.isSafeInteger);
    return isGood ? { shape: "hand", every: +every, exponent: +exponent, points } : null;
}

/* As a table of [drive]; numbers of few digits, so that a scenario file holds them whole. */
function handTable({ every, exponent, points }) {
    const { start } = SYSTEM.experiment;
    return { time: points.map((_, k) => +(start + k * every).toPrecision(12)), value: points.map((one) => Number(`${one}e${exponent}`)) };
}

/* The derivative of a table: steps, written with repeated times; 0 outside. */
function slopeOf({ time, value }) {
    const found = { time: [time[0]], value: [0] };
    for (let k = 1; k < time.length; k++)
        if (time[k] > time[k - 1]) {
            const slope = (value[k] - value[k - 1]) / (time[k] - time[k - 1]);
            found.time.push(time[k - 1], time[k]);
            found.value.push(slope, slope);
        }
    return { time: [...found.time, time[time.length - 1]], value: [...found.value, 0] };
}

const isFree = (name) => typeof name === "string" && Boolean(freeInput(name));

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
            const hand = shape === "hand" && readHand(numbers);
            if (hand && freeInput(key.slice(1)))
                state.drives[key.slice(1)] = hand;
            else if (Object.hasOwn(SHAPES, shape) && numbers.length === 3 && [size, time, frequency].every(Number.isFinite)
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

/* Those that the user has chosen; a driven position drives its velocity as well. */
function drives() {
    return SYSTEM.slaves.flatMap((slave) => slave.free.flatMap((input) => {
        const own = (one) => state.drives[`${slave.name}.${one.name}`];
        const drive = own(input), rate = slave.free.find((one) => one.name === input.rate);
        const signal = (isSlope) => (drive.shape !== "hand" ? { ...drive, isSlope }
            : isSlope ? slopeOf(handTable(drive)) : handTable(drive));
        const put = (one, isSlope) => ({ slave: slave.name, name: one.name, family: "Real", reference: one.reference, ...signal(isSlope) });
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

/* ---- as a scenario file -------------------------------------------------------------------------------------------- */

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
    if (state.algorithm === "gauss_seidel" && SYSTEM.experiment.order !== null)
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
        if (drive.shape === "hand")
            return `${tomlKey(name)} = ${toml(handTable(drive))}`;
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
