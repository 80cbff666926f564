// The GPT in jax-js: one function, from the parameters, moments and a batch to the next ones, under
// `jit`, as its documentation advises for anything that is computed again and again.
import { defaultDevice, init, jit, nn, numpy as np, valueAndGrad } from "@jax-js/jax";

import { ADAM, initial, parameters, rateAt, windows } from "./workload.mjs";

/** Builds the model; answers `{step}`, which takes one training step and resolves to its loss. */
export async function build(settings, text) {
  await init("wasm");
  defaultDevice("wasm");
  const { layers, heads, width, context, batch, vocabulary, rate } = settings;
  const list = parameters(settings);
  const rows = batch * context;
  const ref = (arrays) => arrays.map((array) => array.ref);
  const norm = (x, gain, bias) => nn.standardize(x).mul(gain).add(bias);

  // Passing an array on gives it away; `.ref` keeps it for another use.
  const loss = (weights, inputs, targets) => {
    const next = (() => {
      const queue = [...weights];
      return () => queue.shift();
    })();
    const embedded = np.matmul(nn.oneHot(inputs, vocabulary), next());
    let x = embedded.reshape([batch, context, width]).add(next()).reshape([rows, width]);
    for (let layer = 0; layer < layers; layer++) {
      const qkv = np.matmul(norm(x.ref, next(), next()), next()).add(next());
      const [q, k, v] = np
        .split(qkv, 3, 1)
        .map((part) => part.reshape([batch, context, heads, width / heads]));
      const mixed = nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([rows, width]);
      x = x.add(np.matmul(mixed, next()).add(next()));
      const hidden = np.matmul(norm(x.ref, next(), next()), next()).add(next());
      const active = nn.gelu(hidden, { approximate: false });
      x = x.add(np.matmul(active, next()).add(next()));
    }
    const logits = np.matmul(norm(x, next(), next()), next());
    const chosen = nn.logSoftmax(logits).mul(nn.oneHot(targets, vocabulary));
    return chosen.sum().mul(-1 / rows);
  };

  const update = jit((weights, first, second, inputs, targets, stepSize, secondScale, decay) => {
    const [value, gradients] = valueAndGrad(loss)(ref(weights), inputs, targets);
    const squares = gradients.map((gradient) => np.square(gradient.ref).sum());
    const length = np.sqrt(squares.reduce((sum, square) => sum.add(square)));
    const clip = np.minimum(np.reciprocal(length.add(1e-6)).mul(ADAM.clip), 1);
    const after = [[], [], []];
    weights.forEach((weight, i) => {
      const gradient = gradients[i].mul(clip.ref);
      const m = first[i].mul(ADAM.beta1).add(gradient.ref.mul(1 - ADAM.beta1));
      const v = second[i].mul(ADAM.beta2).add(np.square(gradient).mul(1 - ADAM.beta2));
      const scale = np.sqrt(v.ref).mul(secondScale.ref).add(ADAM.epsilon);
      const kept = list[i].shape.length > 1 ? weight.mul(decay.ref) : weight;
      after[0].push(kept.sub(m.ref.div(scale).mul(stepSize.ref)));
      after[1].push(m);
      after[2].push(v);
    });
    for (const left of [clip, stepSize, secondScale, decay]) left.dispose();
    return [value, ...after];
  });

  const arrays = (values) => values.map((flat, i) => np.array(flat).reshape(list[i].shape));
  const zeros = () => arrays(list.map(({ size }) => new Float32Array(size)));
  let state = [arrays(initial(list)), zeros(), zeros()];
  const draw = windows(text, settings);
  let steps = 0;
  return {
    async step() {
      const { inputs, targets } = draw();
      const now = rateAt(++steps, rate);
      const scalars = [
        now / (1 - ADAM.beta1 ** steps),
        1 / Math.sqrt(1 - ADAM.beta2 ** steps),
        1 - now * ADAM.decay,
      ].map((value) => np.array(value));
      const [value, ...after] = update(...state, np.array(inputs), np.array(targets), ...scalars);
      state = after;
      // All of the step is one computation: the loss is there when it is done.
      await Promise.all(after.flat().map((array) => array.blockUntilReady()));
      return value.jsAsync();
    },
  };
}
