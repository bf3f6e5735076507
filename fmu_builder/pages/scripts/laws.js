/* Curves of the laws of a recipe: they follow the parameters. */
"use strict";

const LAW_POINTS = 200;

/* A table of a law: a cubic in each interval.   slopes  beyond its ends; null: no value there */
const tableLaw = ({ x, c, ends, slopes }) => (at) => {
    const last = x.length - 1;
    if (at < x[0] || at > x[last]) {
        const end = at < x[0] ? 0 : 1;
        return slopes ? ends[end] + slopes[end] * (at - x[end ? last : 0]) : NaN;
    }
    let k = 0;
    while (k < last - 1 && at >= x[k + 1])
        k += 1;
    const t = at - x[k], [a, b, d, e] = c[k];
    return a + t * (b + t * (d + t * e));
};

const lawPanels = SYSTEM.laws.map((law) => ({ law, make: new Function("at", "tableLaw", law.code), plot: null }));
let lawsDrawn = "";

/* With the parameters as they are, and dashed as they were at first. */
function drawLaws() {
    const key = JSON.stringify(state.starts);
    if (!lawPanels.length || key === lawsDrawn)
        return;
    lawsDrawn = key;
    byId("laws").hidden = false;
    for (const panel of lawPanels) {
        const { law } = panel, slave = SYSTEM.slaves.find((one) => one.name === law.slave);
        const x = Float64Array.from({ length: LAW_POINTS + 1 }, (_, k) => law.from + ((law.to - law.from) * k) / LAW_POINTS);
        const curve = (value) => x.map(panel.make((name) => value(parameterOf(slave, name)), tableLaw));
        const now = curve((parameter) => startOf(slave, parameter)), first = curve((parameter) => parameter.value);
        const name = [`${law.name}(${law.argument})`, ...law.others].join(", ");
        const isSame = now.every((value, k) => value === first[k]);
        if (!panel.plot) {
            panel.plot = new Plot(byId("laws"), law.unit, (sample) => { // the pointer is on it alone
                panel.plot.at = sample;
                panel.plot.draw();
            }, law.of === "1" ? "" : law.of);
            panel.plot.box.title = law.about;
        }
        panel.plot.show(x, [...(isSame ? [] : [{ name: "as at first", values: first, colour: COLOURS[0], faint: true }]),
            { name: alone ? name : `${law.slave}.${name}`, values: now, colour: COLOURS[0] }], panel.plot.at ?? null);
    }
}
