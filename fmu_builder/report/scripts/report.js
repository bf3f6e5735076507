/* The report: its filter and keys, and figures that are drawn when they come into view.
 *
 * Packed texts (gzip, base64) stand in script elements: plotly.js, and for each case its plot and its motion. */
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

/* ---- figures ----------------------------------------------------------------------------------------------------- */

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
    view.at(0);
    views.set(figure, view);
}

const waiting = new Set(document.querySelectorAll(".plot, .motion")), drawn = new Set();
let queue = Promise.resolve();

/* One after another, so that the page answers meanwhile. */
function draw(figure, isDark = dark.matches) {
    observer.unobserve(figure);
    queue = queue.then(async () => {
        await (figure.className.startsWith("motion") ? drawMotion(figure) : drawPlot(figure, isDark));
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

const redraw = (isDark) => Promise.all([...drawn].map((figure) => draw(figure, isDark)));
const drawAll = (isDark) => Promise.all([...waiting].map((figure) => draw(figure, isDark)));

let rest;
let width = innerWidth;
addEventListener("resize", () => {
    clearTimeout(rest);
    rest = setTimeout(() => innerWidth !== width && (width = innerWidth, redraw()), RESTED);
});
dark.addEventListener("change", () => {
    styles.clear(); // of plot.js
    redraw();
});

/* Paper is light, and has no place to scroll to. */
byId("print").addEventListener("click", async () => {
    const shown = [...drawn];
    await drawAll(false);
    if (dark.matches)
        await Promise.all(shown.map((figure) => draw(figure, false)));
    print();
    if (dark.matches)
        redraw();
});

/* ---- the case as a live page ------------------------------------------------------------------------------------- */

/* The page of a case, in one text; the modules of FMUs are shared between cases. */
async function livePage(section) {
    const system = JSON.parse(await unpacked(`${section.id}-live-data`));
    system.modules = Object.fromEntries(system.modules.map((guid) => [guid, byId(`module-${guid}`).textContent.trim()]));
    const text = JSON.stringify(system).replaceAll("<", "\\u003c"), page = await unpacked("frame-data");
    return page.replace("@@system@@", () => text);
}

async function toggle(button) {
    const section = button.closest("section"), open = section.querySelector("iframe");
    button.setAttribute("aria-expanded", String(!open));
    button.textContent = open ? "run it here" : "close";
    if (open) {
        open.remove();
        section.querySelector(".run a").remove();
        return;
    }
    const name = section.querySelector("h2").lastChild.textContent.trim(), page = await livePage(section);
    const url = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    button.after(" ", Object.assign(document.createElement("a"), { href: url, textContent: "save this page",
        download: `${name.split("/").pop()}_live.html` }));
    button.closest("p").after(Object.assign(document.createElement("iframe"), { title: `${name}, live`, srcdoc: page }));
}

for (const button of document.querySelectorAll(".run button"))
    button.addEventListener("click", () => toggle(button));

/* ---- which cases are shown --------------------------------------------------------------------------------------- */

const cases = [...document.querySelectorAll("#summary tbody tr")].map((row) => {
    const section = byId(row.dataset.case);
    return { row, section, element: row.dataset.element, verdict: row.dataset.verdict,
        text: `${row.textContent} ${section.querySelector("dl")?.textContent || ""}`.toLowerCase() };
});
const search = byId("search"), chosen = byId("element");
const verdict = () => document.querySelector('input[name="verdict"]:checked')?.value; // where some have failed
const shown = () => cases.filter((one) => !one.row.hidden);

function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of cases) {
        const fits = (!chosen.value || one.element === chosen.value) && (!verdict() || one.verdict === verdict())
            && words.every((word) => one.text.includes(word));
        one.row.hidden = one.section.hidden = !fits;
    }
    const count = shown().length;
    byId("count").textContent = count === cases.length ? "" : `${count} of ${cases.length} shown`;
    byId("none").hidden = count > 0;
}

search.addEventListener("input", filter);
byId("find").addEventListener("change", filter);
byId("find").addEventListener("submit", (event) => event.preventDefault());

/* A link from elsewhere, or an older filter, may lead to a case that is not shown. */
function reveal() {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (target && target.hidden) {
        byId("find").reset();
        filter();
        target.scrollIntoView();
    }
}
addEventListener("hashchange", reveal);

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The case that was reached last, or else begins last above the top of the window, or just below it. */
function current(of) {
    const focused = of.findIndex((one) => one.section.contains(document.activeElement));
    if (focused >= 0)
        return focused;
    return of.findLastIndex((one) => one.section.getBoundingClientRect().top < 80);
}

function go(step) {
    const of = shown(), next = of[Math.min(current(of) + step, of.length - 1)];
    if (!next || current(of) + step < 0) {
        document.activeElement.blur();
        scrollTo({ top: 0 });
        return;
    }
    const heading = next.section.querySelector("h2");
    heading.focus({ preventScroll: true });
    next.section.scrollIntoView({ block: "start" });
}

/* In the table arrows go from row to row. */
function along(event, step) {
    const links = shown().map((one) => one.row.querySelector("a")), at = links.indexOf(document.activeElement);
    if (at < 0)
        return;
    event.preventDefault();
    links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
}

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey)
        return;
    if (event.key === "Escape" && event.target === search) {
        search.value = "";
        filter();
        search.blur();
        return;
    }
    if (event.target.closest?.("input, select, textarea, button"))
        return;
    const keys = { j: () => go(1), k: () => go(-1), ArrowDown: () => along(event, 1), ArrowUp: () => along(event, -1),
        "/": () => { event.preventDefault(); search.focus(); search.select(); } };
    keys[event.key]?.();
});

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

filter(); // browsers keep what was typed when a page is loaded again
if (typeof DecompressionStream === "undefined")
    byId("old").hidden = false;
else
    waiting.forEach((figure) => observer.observe(figure));
if (waiting.size === 0)
    document.body.dataset.plots = "drawn";
