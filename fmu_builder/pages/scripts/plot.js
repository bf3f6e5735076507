/* Curves over time on a canvas: one panel for each unit. */
"use strict";

/* distinct for all eyes, on a light and on a dark ground */
const PALETTES = [["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07800", "#56b4e9", "#8c6d31", "#666666"],
    ["#4aa8e0", "#ff8f4a", "#2fc79a", "#e5a3c9", "#f0c04a", "#a5dcff", "#c9a86a", "#a0a0a0"]];
const darkness = matchMedia("(prefers-color-scheme: dark)");
const COLOURS = [...PALETTES[+darkness.matches]];
const ROUNDING = 1e-12; // relative change that is none
const NONE = 1e-9; // value, over the height of its panel, that is shown as 0
const LEFT = 62, RIGHT = 10, TOP = 8, BOTTOM = 22, HEIGHT = 150; // px around the curves, and in all

const styles = new Map(); // of the colour scheme: asking the browser for one may cost a layout

function style(name) {
    if (!styles.has(name))
        styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
    return styles.get(name);
}

/* After the browser has changed its colour scheme, before all is drawn again. */
function restyle() {
    styles.clear();
    COLOURS.splice(0, COLOURS.length, ...PALETTES[+darkness.matches]);
}

/* The pen of a canvas that is empty, of this size in px of the page. */
function emptied(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h)
        [canvas.width, canvas.height] = [w, h];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, w, h);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
}

/* Round numbers between two, at most so many. */
function ticks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || rough;
    const first = Math.ceil(low / step - 1e-9), count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: Math.min(Math.max(count, 0), 2 * most) }, (_, k) => (first + k) * step);
}

function short(value) {
    if (value === 0)
        return "0";
    const size = Math.abs(value);
    return size >= 1e5 || size < 1e-3 ? value.toExponential(3).replace(/\.?0+e/, "e") : String(+value.toPrecision(4));
}

class Plot {
    /* onTime  is called with the index of the sample under the pointer, or null;  axis: unit of the abscissa */
    constructor(parent, unit, onTime, axis = "s") {
        Object.assign(this, { unit, axis });
        this.box = document.createElement("figure");
        this.canvas = document.createElement("canvas");
        this.legend = document.createElement("figcaption");
        this.box.append(this.legend, this.canvas);
        parent.append(this.box);
        this.canvas.style.height = `${HEIGHT}px`;
        this.width = this.box.clientWidth || 600;
        new ResizeObserver(([{ contentRect }]) => {
            if (contentRect.width && contentRect.width !== this.width) {
                this.width = contentRect.width;
                this.draw();
            }
        }).observe(this.box);
        this.canvas.addEventListener("pointermove", (event) => onTime(this.sample(event.offsetX)));
        this.canvas.addEventListener("pointerleave", () => onTime(null));
    }

    sample(x) {
        const n = this.time ? this.time.length : 0;
        if (n < 2)
            return null;
        const share = (x - LEFT) / (this.width - LEFT - RIGHT);
        return Math.min(Math.max(Math.round(share * (n - 1)), 0), n - 1);
    }

    /* curves  [{name, values, colour, faint}], faint ones do not set the scale by more than twice the others */
    show(time, curves, at) {
        Object.assign(this, { time, curves, at });
        this.draw();
    }

    range() {
        const bounds = (curves) => {
            let low = Infinity, high = -Infinity;
            for (const { values } of curves)
                for (const value of values || []) { // NaN is neither
                    if (value < low)
                        low = value;
                    if (value > high)
                        high = value;
                }
            return [low, high];
        };
        let [low, high] = bounds(this.curves.filter((one) => !one.faint));
        const [faintLow, faintHigh] = bounds(this.curves.filter((one) => one.faint)), room = 2 * (high - low);
        [low, high] = [Math.min(low, Math.max(faintLow, low - room)), Math.max(high, Math.min(faintHigh, high + room))];
        if (!(high - low > ROUNDING * Math.max(Math.abs(low), Math.abs(high))))
            [low, high] = [low - (Math.abs(low) || 1) * 0.5, high + (Math.abs(high) || 1) * 0.5];
        const edge = 0.04 * (high - low);
        return [low - edge, high + edge];
    }

    draw() {
        const height = HEIGHT, { time } = this, pen = emptied(this.canvas, this.width, height);
        if (!time || time.length < 2 || !this.curves.length || this.curves.every((one) => !one.values)) {
            this.legend.replaceChildren();
            this.entries = null;
            return;
        }
        const [low, high] = this.range(), begin = time[0], end = time[time.length - 1];
        this.span = high - low;
        const x = (t) => LEFT + ((t - begin) / (end - begin)) * (this.width - LEFT - RIGHT);
        const y = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - BOTTOM - TOP);
        pen.font = "11px system-ui, sans-serif";
        pen.lineWidth = 1;
        pen.strokeStyle = style("--grid");
        pen.fillStyle = style("--faint");
        pen.textBaseline = "middle";
        pen.textAlign = "right";
        for (const value of ticks(low, high, 5)) {
            pen.beginPath();
            pen.moveTo(LEFT, y(value));
            pen.lineTo(this.width - RIGHT, y(value));
            pen.stroke();
            pen.fillText(short(value), LEFT - 6, y(value));
        }
        pen.textAlign = "center";
        for (const value of ticks(begin, end, 8))
            pen.fillText(`${short(value)}${value === 0 && this.axis ? ` ${this.axis}` : ""}`, x(value), height - BOTTOM / 2);
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, TOP - 2, this.width - LEFT - RIGHT, height - BOTTOM - TOP + 4);
        pen.clip();
        for (const { values, colour, faint } of this.curves)
            if (values)
                this.curve(pen, values, x, y, colour, faint);
        pen.restore();
        if (this.at !== null && this.at < time.length) {
            pen.strokeStyle = style("--faint");
            pen.beginPath();
            pen.moveTo(x(time[this.at]), TOP);
            pen.lineTo(x(time[this.at]), height - BOTTOM);
            pen.stroke();
        }
        this.label();
    }

    /* Of many samples in one column of pixels the lowest and the highest are drawn. */
    curve(pen, values, x, y, colour, faint) {
        const { time } = this, n = Math.min(values.length, time.length);
        const group = Math.max(Math.floor(n / (2 * this.width)), 1);
        pen.strokeStyle = colour;
        pen.lineWidth = faint ? 1 : 1.6;
        pen.globalAlpha = faint ? 0.7 : 1;
        pen.setLineDash(faint ? [5, 4] : []);
        pen.beginPath();
        for (let k = 0; k < n; k += group) {
            let low = k, high = k;
            for (let i = k; i < Math.min(k + group, n); i++) {
                if (values[i] < values[low])
                    low = i;
                if (values[i] > values[high])
                    high = i;
            }
            for (const i of low <= high ? [low, high] : [high, low])
                pen.lineTo(x(time[i]), y(values[i]));
        }
        pen.stroke();
        pen.globalAlpha = 1;
        pen.setLineDash([]);
    }

    /* The names of the curves, with their values at the pointer or at the end. */
    label() {
        const curves = this.curves.filter((one) => one.values), names = curves.map((one) => one.name + one.colour).join("\n");
        if (!this.entries || this.entries.names !== names) {
            this.entries = curves.map(({ colour, faint }) => {
                const entry = document.createElement("span");
                entry.style.color = faint ? "" : colour;
                entry.className = faint ? "dashed" : "";
                entry.append("");
                return entry;
            });
            this.entries.names = names;
            const unit = document.createElement("b");
            unit.textContent = this.unit || "1";
            this.legend.replaceChildren(unit, ...this.entries);
        }
        curves.forEach(({ name, values }, i) => {
            const k = this.at === null ? values.length - 1 : this.at;
            const shown = Math.abs(values[k]) < NONE * this.span ? 0 : values[k];
            this.entries[i].firstChild.data = `${name} ${k < values.length ? short(shown) : "-"}`;
        });
    }
}
