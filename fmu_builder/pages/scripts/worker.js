/* Behind engine.js in a worker: runs what the page asks for, one run after another. */
"use strict";

let system, compilation;

onmessage = async ({ data }) => {
    if (data.system) {
        system = data.system;
        compilation = data.modules ? Promise.resolve(data.modules) : compiled(system);
        compilation.then((modules) => postMessage({ modules }), (error) => postMessage({ unable: String(error) }));
        return;
    }
    const modules = await compilation, begin = performance.now();
    let runs;
    try {
        runs = data.runs.map((changes, k) =>
            run(system, modules, changes, (share) => postMessage({ share: (k + share) / data.runs.length })));
    } catch (error) { // of the page itself
        postMessage({ fault: String(error), number: data.number });
        return;
    }
    const memory = runs.flatMap((one) =>
        [one.time, ...Object.values(one.values), ...Object.values(one.places)].map((array) => array.buffer));
    postMessage({ runs, number: data.number, took: performance.now() - begin }, memory);
};
