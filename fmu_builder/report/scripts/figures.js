/* Figures of a page, drawn when they come into view: plots by plotly.js, and what moves by view.js.
 *
 * Packed texts (gzip, base64) stand in script elements: plotly.js, and the data of each figure. */
"use strict";

const AHEAD = "600px"; // before a figure comes into view
const LEAST_WIDTH = 760; // px of a plot: on a narrow screen it is moved sideways
const RESTED = 200; // ms after the window was resized

const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const DARK = JSON.parse(byId("dark").textContent); // colours of plots: light, dark

async function unpacked(id) {
    const bytes = Uint8Array.from(atob(byId(id).textContent.trim()), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

let library = null;

/* plotly.js, which takes most of the page, is unpacked with the first plot. */
function plotly() {
    library = library || unpacked("plotly").then((text) =>
        document.head.append(Object.assign(document.createElement("script"), { textContent: text })));
    return library;
}

async function drawPlot(box, isDark) {
    let text = await unpacked(`${box.id}-data`);
    if (isDark)
        for (const [light, other] of DARK)
            text = text.replaceAll(light, other);
    await plotly();
    const { data, layout } = JSON.parse(text);
    layout.width = Math.max(box.clientWidth, LEAST_WIDTH);
    await Plotly.newPlot(box, data, layout, { displaylogo: false, toImageButtonOptions: { format: "svg" } });
}

const views = new Map();

async function drawMotion(figure) {
    if (views.has(figure)) {
        views.get(figure).draw();
        return;
    }
    const { items, time, places } = JSON.parse(await unpacked(`${figure.id}-data`));
    const canvas = figure.querySelector("canvas"), view = new View(canvas, figure.querySelector(".player"));
    // the wheel moves the page, with Ctrl it zooms
    figure.addEventListener("wheel", (event) => event.ctrlKey || event.stopPropagation(), { capture: true });
    view.show(items, { time, places });
    views.set(figure, view);
}

const waiting = new Set(document.querySelectorAll(".plot, .motion")), asked = new Set(), drawn = new Set();
let queue = Promise.resolve();

/* One after another, so that the page answers meanwhile; in the scheme of the moment at which it is drawn. */
function draw(figure, isDark) {
    observer.unobserve(figure);
    asked.add(figure);
    queue = queue.then(async () => {
        await (figure.className.startsWith("motion") ? drawMotion(figure) : drawPlot(figure, isDark ?? dark.matches));
        waiting.delete(figure);
        drawn.add(figure);
        document.body.dataset.drawn = drawn.size;
        if (waiting.size === 0)
            document.body.dataset.plots = "drawn";
    }).catch((error) => {
        figure.replaceChildren(Object.assign(document.createElement("p"), { className: "failed", textContent: `Not drawn: ${error}` }));
    });
    return queue;
}

const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
        if (isIntersecting)
            draw(target);
}, { rootMargin: AHEAD });

const redraw = () => Promise.all([...asked].map((figure) => draw(figure))); // also one that is being drawn
const drawAll = (isDark) => Promise.all([...waiting].map((figure) => draw(figure, isDark)));

let rest;
let width = innerWidth;
addEventListener("resize", () => {
    clearTimeout(rest);
    rest = setTimeout(() => innerWidth !== width && (width = innerWidth, redraw()), RESTED);
});
dark.addEventListener("change", () => {
    restyle(); // of plot.js
    redraw();
});

if (typeof DecompressionStream === "undefined")
    byId("old").hidden = false;
else
    waiting.forEach((figure) => observer.observe(figure));
if (waiting.size === 0)
    document.body.dataset.plots = "drawn";
