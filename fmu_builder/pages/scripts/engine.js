/* Co-simulation in a page: FMUs as WebAssembly modules, and the master that steps them.
 *
 * The order of all operations is that of fmu_builder/cosim, so a run has the same bits.  What is run, and the names of
 * its parts, is the system that fmu_builder/pages/system.py writes. */
"use strict";

const STATUS = ["fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal", "fmi2Pending"];
const DISCARD = 2;
const PROGRESS = 50; // ms

class RunError extends Error {}

async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function compiled(system) {
    const made = {};
    for (const [key, base64] of Object.entries(system.modules))
        made[key] = await WebAssembly.compile(await unpacked(base64));
    return made;
}

/* One instance of an FMU.  Its calls raise a RunError that says what it logged. */
class Fmu {
    constructor(slave, module) {
        this.name = slave.name;
        this.log = [];
        const imports = { page: { log: (status, category, text) => this.received(status, category, text) } };
        this.functions = new WebAssembly.Instance(module, imports).exports;
        this.component = this.functions.page_instantiate(this.text(slave.name), this.text(slave.guid));
        if (!this.component)
            throw new RunError(`${this.name}: fmi2Instantiate returned no instance`);
    }

    get memory() {
        return this.functions.memory.buffer; // another one after it has grown
    }

    reserve(size) {
        const place = this.functions.page_reserve(size);
        if (!place)
            throw new RunError(`${this.name}: the browser has no more memory`);
        return place;
    }

    text(characters) {
        const bytes = new TextEncoder().encode(characters + "\0"), place = this.reserve(bytes.length);
        new Uint8Array(this.memory, place, bytes.length).set(bytes);
        return place;
    }

    read(place) {
        const bytes = new Uint8Array(this.memory, place);
        return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    }

    received(status, category, text) {
        const finished = this.read(text).replace(/%%/g, "%").replace(/##/g, "#");
        this.log.push({ slave: this.name, status, category: this.read(category), text: finished });
    }

    check(status, what) {
        if (status < DISCARD)
            return;
        const logged = [...new Set(this.log.filter((one) => one.status >= DISCARD).slice(-3).map((one) => one.text))];
        throw new RunError(`${this.name}: ${what} answered ${STATUS[status]}` +
            (logged.length ? `: ${logged.join("; ")}` : ""));
    }

    call(name, ...more) {
        this.check(this.functions[name](this.component, ...more), name);
    }

    /* value  a number, or the text of a String */
    set(family, reference, value) {
        const link = new Link(this, "Set", family, [reference]);
        if (family === "String") {
            const place = this.text(value); // memory may grow here
            new Uint32Array(this.memory, link.place, 1)[0] = place;
        }
        else
            link.values[0] = value;
        link.call();
    }

    get(family, reference) {
        const link = new Link(this, "Get", family, [reference]);
        link.call();
        return link.values[0];
    }
}

/* Variables of one type of one FMU, read or set in one call. */
class Link {
    constructor(fmu, verb, family, references) {
        this.fmu = fmu;
        this.name = `fmi2${verb}${family}`;
        this.size = references.length;
        this.type = family === "Real" ? Float64Array : Int32Array;
        this.place = fmu.reserve(8 * this.size);
        this.references = fmu.reserve(4 * this.size);
        new Uint32Array(fmu.memory, this.references, this.size).set(references);
        this.function = fmu.functions[this.name];
    }

    get values() {
        if (this.view === undefined || this.view.length === 0) // memory that grows leaves empty views behind
            this.view = new this.type(this.fmu.memory, this.place, this.size);
        return this.view;
    }

    call() {
        const status = this.function(this.fmu.component, this.references, this.size, this.place);
        if (status)
            this.fmu.check(status, this.name);
    }
}

/* ---- signals of [drive] ------------------------------------------------------------------------------------------ */

/* time, value  linear between the points, other types hold; the ends hold; a repeated time is a jump */
function tabled(drive, t) {
    const { time, value } = drive, late = t + 1e-12 * Math.abs(t);
    let low = 0, high = time.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (late < time[middle])
            high = middle;
        else
            low = middle + 1;
    }
    const k = low - 1;
    if (k < 0)
        return value[0];
    if (k === time.length - 1 || drive.family !== "Real")
        return value[k];
    const share = Math.max(t - time[k], 0) / (time[k + 1] - time[k]);
    return value[k] + (value[k + 1] - value[k]) * share;
}

/* What a page gives an input that the system leaves free: its value, and its slope. */
const SHAPES = {
    constant: [(shape) => shape.size, () => 0],
    step: [(shape, t) => (t < shape.time ? 0 : shape.size), () => 0],
    sine: [(shape, t) => shape.size * Math.sin(2 * Math.PI * shape.frequency * t),
        (shape, t) => shape.size * 2 * Math.PI * shape.frequency * Math.cos(2 * Math.PI * shape.frequency * t)],
};

function signal(drive) {
    if (drive.shape)
        return (t) => SHAPES[drive.shape][drive.isSlope ? 1 : 0](drive, t);
    if (drive.law)
        return new Function("t", `"use strict"; return ${drive.law};`);
    return (t) => tabled(drive, t);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* changes  starts: {slave: {name: value}}, stop, step, algorithm: in place of those of the system
 *          drives: of more inputs; record: "slave.name" of the signals that are wanted, else all
 * Returns {time, values: {"slave.name": Float64Array}, places: those of the scene, log, failure}: of a run that fails,
 * what there was before. */
function run(system, modules, changes, progress) {
    const master = new Master(system, modules, changes);
    let failure = "";
    try {
        master.initialize();
        master.steps(progress || (() => {}));
    } catch (error) {
        if (!(error instanceof RunError) && !(error instanceof WebAssembly.RuntimeError))
            throw error;
        failure = error.message;
    }
    return { ...master.result(), failure };
}

function commonDivisor(a, b) {
    return b ? commonDivisor(b, a % b) : a;
}

const MOST_STEPS = 1e6; // of a run in a page, whose signals are all in memory

class Master {
    constructor(system, modules, changes) {
        this.system = system;
        this.changes = changes;
        this.start = system.experiment.start;
        this.step = changes.step ?? system.experiment.step;
        const length = (changes.stop ?? system.experiment.stop) - this.start;
        const each = Object.values(system.ticks).reduce((all, ticks) => all * ticks / commonDivisor(all, ticks), 1);
        this.count = Math.ceil(Math.max(Math.round(length / this.step), 1) / each) * each; // whole steps of all slaves
        this.algorithm = changes.algorithm || system.experiment.algorithm;
        this.plan = system.algorithms[this.algorithm];
        this.slaves = {};
        this.row = 0;
        this.failed = null;
        if (!(this.count <= MOST_STEPS)) {
            this.failed = new RunError(`${this.count} steps are more than the ${MOST_STEPS} that a page makes: take a longer step or a shorter run`);
            return;
        }
        try {
            for (const slave of system.slaves)
                this.slaves[slave.name] = new Fmu(slave, modules[slave.guid]);
        } catch (error) {
            if (!(error instanceof RunError))
                throw error;
            this.failed = error;
        }
        this.drives = [...system.drives, ...(changes.drives || [])].map((one) => ({ ...one, at: signal(one) }));
    }

    /* [family, reference, value, whether it is an input] of a slave */
    starts(slave) {
        const given = new Map(slave.starts.map((one) => [`${one[0]} ${one[1]}`, one]));
        const put = (one) => given.set(`${one[0]} ${one[1]}`, one);
        const changed = (this.changes.starts || {})[slave.name] || {};
        for (const [name, value] of Object.entries(changed)) {
            const variable = slave.parameters.find((one) => one.name === name);
            put([variable.family, variable.reference, value, false]);
        }
        (this.plan.set_by_master[slave.name] || []).forEach((one) => given.has(`${one[0]} ${one[1]}`) || put(one));
        return [...given.values()];
    }

    initialize() {
        if (this.failed)
            throw this.failed;
        for (const inputs of [false, true]) {
            for (const slave of this.system.slaves)
                for (const [family, reference, value, isInput] of this.starts(slave))
                    if (isInput === inputs)
                        this.slaves[slave.name].set(family, reference, value);
            if (!inputs)
                for (const fmu of Object.values(this.slaves)) {
                    const { tolerance } = this.system.experiment;
                    fmu.call("fmi2SetupExperiment", tolerance === null ? 0 : 1, tolerance || 0, this.start, 1,
                        this.start + this.count * this.step);
                    fmu.call("fmi2EnterInitializationMode");
                }
        }
        for (const drive of this.drives)
            this.slaves[drive.slave].set(drive.family, drive.reference, drive.at(this.start));
        this.solveInitialValues();
        for (const fmu of Object.values(this.slaves))
            fmu.call("fmi2ExitInitializationMode");
        this.connect();
        this.record();
    }

    /* Every output passed on in the order of the dependencies; a loop is repeated until its values are constant. */
    solveInitialValues() {
        const { initial, links } = this.system, known = new Map(), largest = new Map();
        const sweep = () => {
            let change = 0;
            for (const { slave, family, reference, to } of initial.order) {
                const key = `${slave} ${family} ${reference}`, value = this.slaves[slave].get(family, reference);
                if (!Number.isFinite(value))
                    throw new RunError(`${slave}: an output is ${value} at the start`);
                largest.set(key, Math.max(largest.get(key) || 0, Math.abs(value)));
                if (value !== known.get(key)) {
                    const before = known.has(key) ? known.get(key) : Infinity;
                    change = Math.max(change, Math.abs(value - before) / (largest.get(key) || 1));
                }
                known.set(key, value);
                for (const number of to) {
                    const link = links[number];
                    let total = 0;
                    for (const source of link.from) {
                        const part = known.get(`${source.slave} ${link.family} ${source.reference}`) || 0;
                        total += source.same ? part : source.factor * part + source.offset;
                    }
                    this.slaves[link.slave].set(link.family, link.reference, total);
                }
            }
            return change;
        };
        let before, change = sweep();
        if (!initial.loop)
            return;
        before = change;
        for (let k = 0; k < 5000; k++) {
            [before, change] = [change, sweep()];
            const rate = before > 0 && before < Infinity ? change / before : 1;
            const left = rate < 1 ? change * Math.max(rate / (1 - rate), 1) : Infinity;
            if (left <= 1e-10 || change <= 1e-15)
                return;
        }
        throw new RunError("the initial values of a loop have no solution that iteration finds");
    }

    /* The links between slaves, and those of the record. */
    connect() {
        this.reads = {};
        this.writes = {};
        const places = new Map(); // of outputs: [link, index]
        for (const name of Object.keys(this.slaves))
            this.reads[name] = this.writes[name] = [];
        const grouped = (items, key) => {
            const groups = new Map();
            for (const one of items)
                groups.set(key(one), [...(groups.get(key(one)) || []), one]);
            return groups;
        };
        const outputs = new Map();
        for (const link of this.system.links)
            for (const source of link.from)
                outputs.set(`${source.slave} ${link.family} ${source.reference}`, { ...source, family: link.family });
        for (const group of grouped(outputs.values(), (one) => `${one.slave} ${one.family}`).values()) {
            const { slave, family } = group[0];
            const link = new Link(this.slaves[slave], "Get", family, group.map((one) => one.reference));
            group.forEach((one, k) => places.set(`${slave} ${family} ${one.reference}`, [link, k]));
            this.reads[slave] = [...this.reads[slave], link];
        }
        for (const group of grouped(this.system.links, (one) => `${one.slave} ${one.family}`).values()) {
            const { slave, family } = group[0];
            const link = new Link(this.slaves[slave], "Set", family, group.map((one) => one.reference));
            link.sources = group.map((one) =>
                one.from.map((source) => [...places.get(`${source.slave} ${family} ${source.reference}`), source]));
            this.writes[slave] = [...this.writes[slave], link];
        }
        for (const links of Object.values(this.reads))
            links.forEach((link) => link.call());
        for (const drive of this.drives) {
            drive.link = new Link(this.slaves[drive.slave], "Set", drive.family, [drive.reference]);
            drive.lead = (this.plan.leads[drive.slave] || {})[drive.name] || 0; // ticks: of the time of other motions
        }
        this.values = [];
        this.places = []; // of the scene
        const { record } = this.changes;
        const wanted = (slave, one) => !record || record.includes(`${slave.name}.${one.name}`);
        for (const slave of this.system.slaves)
            for (const group of grouped(slave.signals.filter((one) => wanted(slave, one)), (one) => one.family).values())
                this.keep(this.values, slave.name, group[0].family, group);
        for (const [name, variables] of Object.entries(this.system.scene.variables))
            if (variables.length)
                this.keep(this.places, name, "Real", variables);
    }

    keep(records, slave, family, variables) {
        records.push({
            link: new Link(this.slaves[slave], "Get", family, variables.map((one) => one.reference)),
            names: variables.map((one) => `${slave}.${one.name}`),
            columns: variables.map(() => new Float64Array(this.count + 1)),
        });
    }

    write(link) {
        const { values } = link;
        link.sources.forEach((sources, k) => {
            if (sources.length === 1 && sources[0][2].same) {
                values[k] = sources[0][0].values[sources[0][1]];
            } else {
                let sum = 0;
                for (const [from, place, { factor, offset }] of sources)
                    sum += factor * from.values[place] + offset;
                values[k] = sum;
            }
        });
        link.call();
    }

    read(link) {
        link.call();
        if (link.type === Float64Array)
            for (const value of link.values)
                if (!Number.isFinite(value))
                    throw new RunError(`${link.fmu.name}: an output is ${value} at ${this.time} s`);
    }

    record() {
        for (const records of [this.values, this.places])
            for (const { link, columns } of records) {
                link.call();
                const { values } = link;
                for (let k = 0; k < columns.length; k++)
                    columns[k][this.row] = values[k];
            }
        this.row += 1;
    }

    steps(progress) {
        const ticks = this.system.ticks, jacobi = this.algorithm === "jacobi";
        const due = (name, tick, phase) => tick % ticks[name] === phase;
        let shown = performance.now();
        for (let tick = 0; tick < this.count; tick++) {
            this.time = this.start + tick * this.step;
            for (const drive of this.drives)
                if (due(drive.slave, tick, 0)) {
                    drive.link.values[0] = drive.at(this.start + (tick + drive.lead) * this.step);
                    drive.link.call();
                }
            for (const round of this.plan.rounds) {
                for (const name of round)
                    if (due(name, tick, jacobi ? 0 : ticks[name] - 1))
                        this.writes[name].forEach((link) => this.write(link));
                for (const name of round)
                    if (due(name, tick, ticks[name] - 1)) {
                        const fmu = this.slaves[name], back = ticks[name] - 1;
                        const status = fmu.functions.fmi2DoStep(fmu.component,
                            this.start + (tick - back) * this.step, ticks[name] * this.step, 1);
                        if (status)
                            fmu.check(status, `fmi2DoStep at ${this.time} s`);
                    }
                for (const name of round)
                    if (due(name, tick, ticks[name] - 1))
                        this.reads[name].forEach((link) => this.read(link));
            }
            this.record();
            if (tick % 64 === 0 && performance.now() - shown > PROGRESS) {
                shown = performance.now();
                progress(tick / this.count);
            }
        }
    }

    result() {
        const time = new Float64Array(this.row);
        for (let k = 0; k < this.row; k++)
            time[k] = this.start + k * this.step;
        const whole = this.row === this.count + 1; // else a run that failed
        const named = (records) => Object.fromEntries((records || []).flatMap(({ names, columns }) =>
            names.map((name, k) => [name, whole ? columns[k] : columns[k].slice(0, this.row)])));
        const log = Object.values(this.slaves).flatMap((fmu) => fmu.log);
        return { time, values: named(this.values), places: named(this.places), log };
    }
}
