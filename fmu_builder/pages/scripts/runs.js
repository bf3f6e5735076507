/* The runs of a page, in a worker. */
"use strict";

let worker, modules = null, busy = 0, waiting = false, number = 0, latest = null, begun = 0;

function startWorker() {
    const source = byId("engine").textContent + byId("worker").textContent;
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => received(data);
    worker.postMessage({ system: SYSTEM, modules });
    busy = 0;
}

function received(data) {
    if (data.unable) {
        fail(`This browser cannot run the FMUs: ${data.unable}`);
    } else if (data.modules) {
        modules = data.modules;
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
    if (busy && modules && performance.now() - begun > PATIENCE) {
        worker.terminate();
        startWorker();
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
    const beside = compared() && latest !== null; // the first curves come as soon as they can
    worker.postMessage({ number, runs: beside ? [own, { ...own, starts: held() }] : [own] });
}

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

/* The first run is under way while the rest of the page is made. */
const able = typeof WebAssembly !== "undefined" && typeof DecompressionStream !== "undefined";
if (able) {
    readFragment();
    startWorker();
    request();
}
