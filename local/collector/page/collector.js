// The requests that the page makes of its collector: the only ones.

/** The survey, with the randomizer of each question. */
export async function survey() {
  const s = await (await ask("survey.json")).json();
  for (const q of s.questions) {
    q.language = s.language ?? "";
    q.randomizer = { mechanism: q.mechanism, epsilon: q.epsilon };
    if (q.values) q.randomizer.values = q.values.length;
    if (q.seed) q.randomizer.seed = BigInt(q.seed);
    if (q.first) q.randomizer.first = q.first;
    if (q.positions) q.randomizer.positions = q.positions;
  }
  return { ...s, key: `${s.name} ${s.version} ${s.round ?? ""}` };
}

/** The message about drawn reports. Its random id lets the collector count it once. */
export function message(survey, reports) {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  return { reports, body: JSON.stringify({ survey: survey.version, round: survey.round, id, reports }) };
}

export async function send(body) {
  await ask("reports", { method: "POST", headers: { "Content-Type": "application/json" }, body });
}

/** Calls f with the results, now and whenever they change. */
export function follow(f) {
  const events = new EventSource("results");
  events.addEventListener("message", (event) => f(JSON.parse(event.data)));
}

async function ask(path, options) {
  const response = await fetch(path, { credentials: "omit", ...options });
  if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`);
  return response;
}
