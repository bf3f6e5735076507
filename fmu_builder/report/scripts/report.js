/* The report: cases that run in it, its filter and keys.  Figures are those of figures.js. */
"use strict";

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

filter(); // browsers keep what was typed when a page is loaded again
