// What every library in the browser is given: the same text, cut into windows, and the same way of
// being timed. (pytorch.py and model/examples/bench_rounds.rs do the same for programs.)

/** AdamW's settings, as the page's GPT has them. */
export const ADAM = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, decay: 0.1, clip: 1, warmup: 20 };

/** The learning rate of step `step`, counted from 1. */
export function rateAt(step, peak) {
  return peak * Math.min(1, step / ADAM.warmup);
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

/**
 * The parameters of the GPT, in the order that the libraries' models take them: shape, and the
 * standard deviation of the initial weights (`null` for the gains of norms, which start at 1; 0 for
 * biases). Weights are `[inputs, outputs]`.
 */
export function parameters({ layers, width, context, vocabulary }) {
  const [d, into] = [width, 0.02 / Math.sqrt(2 * layers)];
  const list = [[[vocabulary, d], 0.02], [[context, d], 0.02]];
  for (let layer = 0; layer < layers; layer++) {
    list.push([[d], null], [[d], 0]);
    list.push([[d, 3 * d], 0.02], [[3 * d], 0], [[d, d], into], [[d], 0]);
    list.push([[d], null], [[d], 0]);
    list.push([[d, 4 * d], 0.02], [[4 * d], 0], [[4 * d, d], into], [[d], 0]);
  }
  list.push([[d], null], [[d], 0], [[d, vocabulary], 0.02]);
  return list.map(([shape, deviation]) => ({ shape, deviation, size: shape.reduce((a, b) => a * b) }));
}

/** The initial values of each of [`parameters`], flat. */
export function initial(list) {
  const draw = normals();
  return list.map(({ size, deviation }) =>
    deviation === null ? new Float32Array(size).fill(1) : draw(size, deviation),
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
