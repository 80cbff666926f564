// What every library in the browser is given: the same text, cut into windows, and the same way of
// being timed. (pytorch.py and model/examples/bench_rounds.rs do the same for programs.)

/** AdamW's settings, as the page's GPT has them. */
export const ADAM = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, decay: 0.1, clip: 1, warmup: 20 };

/** The learning rate of step `step`, counted from 1: the GPT warms up, chapters' models do not. */
export function rateAt(step, { kind, rate }) {
  return kind === "gpt" ? rate * Math.min(1, step / ADAM.warmup) : rate;
}

/** Draws batches of windows of `text`: `{inputs, targets}`, each `batch * context` ids. */
export function windows(text, { vocabulary, context, batch }) {
  const characters = [...new Set(text)].sort();
  if (characters.length > vocabulary) throw new Error(`the text has ${characters.length} characters`);
  const ids = new Map(characters.map((character, id) => [character, id]));
  const tokens = Int32Array.from(text, (character) => ids.get(character));
  let state = 1;
  return () => {
    const [inputs, targets] = [new Int32Array(batch * context), new Int32Array(batch * context)];
    for (let row = 0; row < batch; row++) {
      // Numerical Recipes' linear congruential generator; its high bits are good enough here.
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const start = Math.floor((state / 2 ** 32) * (tokens.length - context - 1));
      inputs.set(tokens.subarray(start, start + context), row * context);
      targets.set(tokens.subarray(start + 1, start + 1 + context), row * context);
    }
    return { inputs, targets };
  };
}

/** Standard normal numbers (Box and Muller 1958), the same in every run. */
export function normals() {
  let state = 12345;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return (count, deviation) =>
    Float32Array.from(
      { length: count },
      () => deviation * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
    );
}

/** Gates of a recurrent cell: each has its own part of the weights. */
const GATES = { rnn: 1, gru: 3, lstm: 4 };

/**
 * The parameters of the model, in the order that the libraries' models take them: `shape`, `size`,
 * and how they start: the `deviation` of normal numbers, or `value` for all. Weights are
 * `[inputs, outputs]`.
 */
export function parameters(settings) {
  const { kind, layers, width: d, context, vocabulary } = settings;
  const normal = (deviation, ...shape) => ({ shape, deviation });
  const all = (value, ...shape) => ({ shape, value });
  const list = [];
  if (kind === "gpt") {
    const into = 0.02 / Math.sqrt(2 * layers);
    list.push(normal(0.02, vocabulary, d), normal(0.02, context, d));
    for (let layer = 0; layer < layers; layer++) {
      list.push(all(1, d), all(0, d));
      list.push(normal(0.02, d, 3 * d), all(0, 3 * d), normal(into, d, d), all(0, d));
      list.push(all(1, d), all(0, d));
      list.push(normal(0.02, d, 4 * d), all(0, 4 * d), normal(into, 4 * d, d), all(0, d));
    }
    list.push(all(1, d), all(0, d), normal(0.02, d, vocabulary));
  } else {
    // As far from 0 as PyTorch's: uniform in ±1/sqrt(d) has this deviation.
    const [gates, spread] = [GATES[kind], 1 / Math.sqrt(3 * d)];
    list.push(normal(spread, vocabulary, gates * d), normal(spread, d, gates * d));
    list.push(all(0, gates * d), all(0, gates * d));
    list.push(normal(spread, d, vocabulary), all(0, vocabulary));
  }
  return list.map((entry) => ({ ...entry, size: entry.shape.reduce((a, b) => a * b) }));
}

/** The initial values of each of [`parameters`], flat. */
export function initial(list) {
  const draw = normals();
  return list.map(({ size, deviation, value }) =>
    value === undefined ? draw(size, deviation) : new Float32Array(size).fill(value),
  );
}

/** A sample is the mean of so many steps that it takes at least this long, in milliseconds. */
const SAMPLE = 100;

/**
 * Times `step()`, which resolves to the loss once everything is computed, for about `budget`
 * milliseconds. `each` is what a step took so far, if known. Answers `{samples, losses}`:
 * milliseconds of a step, and the loss of every step.
 */
export async function timed(step, budget, each = Infinity) {
  const [samples, losses] = [[], []];
  const chunk = Math.max(1, Math.ceil(SAMPLE / each));
  const begin = performance.now();
  do {
    const start = performance.now();
    for (let i = 0; i < chunk; i++) losses.push(await step());
    samples.push((performance.now() - start) / chunk);
  } while (performance.now() - begin < budget);
  return { samples, losses };
}
