// The page of a survey: asks, randomizes each answer here, shows the message, sends it, and shows the results. Answers are
// only in the form and in the variables of `draw`, and with repeated questions in the memory of the device. Texts of the survey become text nodes, never markup.
import { Numbers, Oracle, hex } from "./index.js";
import * as collector from "./collector.js";

const $ = (id) => document.getElementById(id);
const most = 12; // radio buttons; beyond that, a list

/** An element with properties and children. */
function make(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

function say(text, problem = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", problem);
}

/** Shows one of the sections that ask, and moves the focus to its heading. */
function show(id) {
  for (const other of ["ask", "preview"]) $(other).hidden = other !== id;
  if (id === "preview") $("preview-title").focus();
}

// Keeping

const result = (request) => new Promise((done, fail) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});

/**
 * Calls f with the kept texts of the keys, keeps the texts that f returns by key, and returns all. The browser runs
 * such transactions one after the other, whichever tab or process they are in. The texts are on the disk before it
 * returns.
 */
async function change(keys, f) {
  let db;
  try {
    const opening = globalThis.indexedDB.open("dither", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
    db = await result(opening);
    const transaction = db.transaction("kept", "readwrite", { durability: "strict" });
    const store = transaction.objectStore("kept");
    const ended = new Promise((done, fail) => {
      transaction.oncomplete = done;
      transaction.onabort = () => fail(transaction.error);
    });
    const texts = {};
    for (const key of keys) texts[key] = await result(store.get(key));
    for (const [key, text] of Object.entries(f(texts))) store.put((texts[key] = text), key);
    await ended;
    return texts;
  } catch (error) {
    if (db && !(error instanceof DOMException)) throw error; // of f
    throw new Error("the browser stores nothing for this page, which could draw a second message. " +
      "Allow it, or use another browser");
  } finally {
    db?.close();
  }
}

// Asking

const textOf = (q) => q.text || q.name;
const valueOf = (q, v) => q.values?.[v] ?? String(v);

function field(q, i) {
  const name = `q${i}`, label = make("label", { htmlFor: name }, textOf(q));
  if (q.low) {
    const input = make("input", { type: "number", id: name, name, required: true, step: "any" });
    const note = `A number. Below ${signed(q.low)} it counts as ${signed(q.low)}, and above ${signed(q.high)} as ${signed(q.high)}.`;
    return make("div", { className: "number" }, label, input, make("p", { className: "note" }, note));
  }
  if (!q.values) {
    const most = String(BigInt(q.k) - 1n);
    const input = make("input", { type: "number", id: name, name, required: true, min: "0", max: most, step: "1" });
    return make("div", { className: "number" }, label, input, make("p", { className: "note" }, `A whole number from 0 to ${most}.`));
  }
  if (q.values.length > most) {
    const select = make("select", { id: name, name, required: true }, make("option", { value: "" }, ""));
    q.values.forEach((text, v) => select.append(make("option", { value: v }, text)));
    return make("div", { className: "number" }, label, select);
  }
  const set = make("fieldset", {}, make("legend", {}, textOf(q)));
  q.values.forEach((text, v) => {
    set.append(make("label", { className: "choice" }, make("input", { type: "radio", name, value: v, required: true }), text));
  });
  return set;
}

/** The integer of a field, which may be written as 1.0 or 1e3. Number alone would round the largest ones. */
const whole = (text) => BigInt(/^\d+$/.test(text) ? text : Number(text));

/** The key of the memory of a question that is repeated. The memory outlives the versions of the survey. */
function deviceKey(survey, q) {
  const { mechanism, values, epsilon, first, positions } = q.randomizer;
  return `dither device ${survey.name} ${q.name} ${[mechanism, values, epsilon, first, positions]}`;
}

/** Randomizes the given answers of the form, once. It returns the message, and adds the changed memories to `kept`. */
function draw(survey, given, texts, kept) {
  const answers = {};
  survey.questions.forEach((q, i) => {
    if (q.low) {
      const [low, high] = [Number(q.low), Number(q.high)], x = (2 * (Number(given.get(`q${i}`)) - low)) / (high - low) - 1;
      answers[q.name] = hex(new Numbers(q.randomizer).report(Math.min(Math.max(x, -1), 1)));
      return;
    }
    const answer = whole(given.get(`q${i}`)), oracle = new Oracle(q.randomizer);
    if (!oracle.states || survey.reports === 1) {
      answers[q.name] = hex(oracle.randomize(answer));
      return;
    }
    const key = deviceKey(survey, q), device = texts[key] ? oracle.openDevice(texts[key]) : oracle.newDevice();
    answers[q.name] = hex(device.report(answer));
    kept[key] = device.stored(); // before the report is sent: see Device
  });
  return collector.message(survey, answers);
}

/** The meaning of a report, for the person. */
function meaning(q, report) {
  const k = q.k, m = q.mechanism, strong = (text) => make("strong", {}, text);
  if (m === "krr" || m === "coin") {
    const e = Math.exp(Number(q.epsilon)), width = 32 - Math.clz32(k - 1);
    const v = parseInt(report, 16) >> (8 * Math.ceil(width / 8) - width), own = m === "coin" ? 0.75 : e / (e + k - 1);
    const rest = k === 2 ? "Otherwise it is the other answer." : "Otherwise it is one of the other answers.";
    return [strong(valueOf(q, v)), `. With probability ${percent(own)} this is your own answer. ${rest}`];
  }
  const bytes = report.length / 2;
  return [`${bytes} ${bytes === 1 ? "byte" : "bytes"} that each answer could have caused: `, strong(report), "."];
}

function preview(survey, body) {
  const { answers } = JSON.parse(body);
  const rows = survey.questions.flatMap((q) => [make("dt", {}, textOf(q)), make("dd", {}, ...meaning(q, answers[q.name]))]);
  $("reports").replaceChildren(...rows);
  $("message").textContent = body;
  $("send").disabled = false;
  show("preview");
}

// Results

const signed = (text) => text.replace("-", "\u2212");
const points = (x) => signed((100 * x).toFixed(Math.abs(x) < 0.1 ? 1 : 0));
const liars = (n) => ` if ${n} ${n === 1 ? "lies" : "lie"}`;
const percent = (x) => `${points(x)}\u00a0%`;

const svg = (tag, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};

/** A bar from 0 to 1: the interval that malicious messages allow, the interval, and the estimate. */
function bar({ share, low, high, malicious }) {
  const at = (x) => 100 * Math.min(Math.max(x, 0), 1);
  const line = (name, x1, x2, y1 = 10, y2 = 10) => svg("line", { class: name, x1: at(x1), x2: at(x2), y1, y2 });
  const out = svg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const x of [0, 0.5, 1]) out.append(line("axis", x, x, 0, 20));
  out.append(line("axis", 0, 1), line("suspect", malicious.low, malicious.high), line("interval", low, high), line("estimate", share, share, 4, 16));
  return out;
}

const rows = 20; // of a chart

function chart(q, values, { n, malicious }) {
  const head = ["Answer", "Share", "0 to 100 %"].map((text, i) =>
    make("th", { scope: "col", className: ["value", "share", ""][i] }, text));
  const shares = values.map((v) => ({
    text: v.value, share: v.estimate / n, low: v.low / n, high: v.high / n,
    malicious: { low: v.malicious.low / n, high: v.malicious.high / n },
  }));
  const shown = shares.length > rows ? shares.sort((a, b) => b.share - a.share).slice(0, rows) : shares;
  const body = shown.map((v) => {
    const range = ({ low, high }, more = "") => make("span", {}, `${points(low)} to ${percent(high)}${more}`);
    const share = make("td", { className: "share" }, percent(v.share), range(v));
    if (malicious > 0) share.append(range(v.malicious, liars(malicious)));
    return make("tr", {}, make("th", { scope: "row" }, v.text), share, make("td", {}, bar(v)));
  });
  const table = make("table", {}, make("caption", {}, textOf(q)),
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  if (shown === shares) return [table];
  const note = `These are the ${rows} largest of ${values.length} estimates. They are too large on average, because they were chosen by size.`;
  return [table, make("p", { className: "note" }, note)];
}

/** A mean as a row of a table, as those of shares. */
function meanOf(q, { mean }, { n, malicious }) {
  const [low, high] = [Number(q.low), Number(q.high)], at = (x) => (x - low) / (high - low);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10((mean.high - mean.low) / 2 || 1)), 0), 12);
  const text = (x) => signed(x.toFixed(places)), cell = make("td", { className: "share" }, text(mean.estimate));
  cell.append(make("span", {}, `${text(mean.low)} to ${text(mean.high)}`));
  const all = mean.malicious;
  if (malicious > 0) cell.append(make("span", {}, `${text(all.low)} to ${text(all.high)}${liars(malicious)}`));
  const drawn = bar({ share: at(mean.estimate), low: at(mean.low), high: at(mean.high),
    malicious: { low: at(all.low), high: at(all.high) } });
  const head = ["Numbers", "Mean", `${signed(q.low)} to ${signed(q.high)}`].map((text, i) =>
    make("th", { scope: "col", className: ["value", "share", ""][i] }, text));
  const row = make("tr", {}, make("th", { scope: "row" }, String(n)), cell, make("td", {}, drawn));
  return [make("table", {}, make("caption", {}, textOf(q)), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, row))];
}

function results(survey, update) {
  $("results").hidden = false;
  $("count").textContent = `${update.n} ${update.n === 1 ? "message was" : "messages were"} received.`;
  const charts = survey.questions.flatMap((q) => {
    const result = update.questions.find((r) => r.name === q.name);
    if (!result || update.n === 0) return [];
    return q.low ? meanOf(q, result, update) : chart(q, result.values, update);
  });
  $("charts").replaceChildren(...charts);
}

// The course of the page

async function start() {
  const survey = await collector.survey(), key = `dither survey ${survey.digest}`;
  $("title").textContent = document.title = survey.name;
  collector.follow((update) => results(survey, update));

  // the number of messages that this browser drew for the survey, and the one that was not sent yet
  const stateOf = (texts) => JSON.parse(texts[key] ?? '{"drawn":0,"body":null}');
  let state = stateOf(await change([key], () => ({})));
  const left = () => survey.reports - state.drawn;
  const promise = [`The privacy loss ε of a message is ${survey.report_epsilon}.`];
  if (survey.reports > 1) {
    promise.push(`This browser sends at most ${survey.reports} messages, and their loss is at most ${survey.lifetime_epsilon}.`);
  }
  $("promise").textContent = promise.join(" ");
  $("questions").replaceChildren(...survey.questions.map(field));
  // draws a message, unless another tab has drawn one meanwhile
  const keys = [key, ...survey.questions.filter((q) => !q.low).map((q) => deviceKey(survey, q))];
  const drawOnce = (given) => change(keys, (texts) => {
    const { drawn, body } = stateOf(texts), kept = {};
    if (body) return kept;
    if (drawn >= survey.reports) throw new Error("this browser has answered the survey in another tab");
    kept[key] = JSON.stringify({ drawn: drawn + 1, body: draw(survey, given, texts, kept) });
    return kept;
  });
  $("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData($("form"));
    try {
      state = stateOf(await drawOnce(given));
    } catch (error) {
      return say(`Nothing was sent: ${error.message}.`, true);
    }
    $("form").reset();
    say("");
    preview(survey, state.body);
  });
  $("send").addEventListener("click", async () => {
    $("send").disabled = true;
    say("The message is on its way.");
    const body = $("message").textContent;
    try {
      await collector.send(body);
    } catch (error) {
      say(`The message was not accepted: ${error.message} You may send it again: it is counted once.`, true);
      $("send").disabled = false;
      return;
    }
    const sent = change([key], (texts) => {
      const now = stateOf(texts);
      return now.body === body ? { [key]: JSON.stringify({ ...now, body: null }) } : {};
    });
    state = await sent.then(stateOf, () => state); // at worst, a later visit sends it again, and it is counted once
    show("");
    const more = left() > 0 ? ` You may answer again later: ${left()} of ${survey.reports} messages are left.` : "";
    say(`Thank you. The collector has stored your message.${more}`);
  });

  if (state.body) {
    say("");
    return preview(survey, state.body);
  }
  if (left() < 1) return say("You have answered this survey.");
  const skew = 1000 * survey.skew_seconds, time = (text) => Date.parse(text); // NaN, which nothing exceeds, for none
  if (survey.now < time(survey.opens) - skew) return say(`The survey opens at ${survey.opens}.`);
  if (survey.now > time(survey.closes) + skew) return say(`The survey closed at ${survey.closes}.`);
  say("");
  show("ask");
}

start().catch((error) => say(`The survey could not be loaded: ${error.message}`, true));
