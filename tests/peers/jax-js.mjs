// A GPT or a recurrent layer in jax-js: one function, from the parameters, moments and a batch to
// the next ones, under `jit`, as its documentation advises for anything that is computed again and
// again.
import { defaultDevice, init, jit, nn, numpy as np, valueAndGrad } from "@jax-js/jax";

import { ADAM, initial, parameters, rateAt, windows } from "./workload.mjs";

// Passing an array on gives it away; `.ref` keeps it for another use.
const norm = (x, gain, bias) => nn.standardize(x).mul(gain).add(bias);

/** Logits of a GPT, `[rows, vocabulary]`; `next` gives the parameters in their order. */
function gpt({ layers, heads, width, context, batch, vocabulary }, next, inputs) {
  const rows = batch * context;
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
  return np.matmul(norm(x, next(), next()), next());
}

/** The next state of a cell from what the input and the state before add to its gates. */
const CELLS = {
  rnn: ([x], [h]) => ({ h: np.tanh(x.add(h)) }),
  lstm(x, h, { c }) {
    const [i, f, g, o] = x.map((part, gate) => part.add(h[gate]));
    const next = nn.sigmoid(f).mul(c).add(nn.sigmoid(i).mul(np.tanh(g)));
    return { c: next.ref, h: nn.sigmoid(o).mul(np.tanh(next)) };
  },
  // With the reset gate after the product, as PyTorch has it.
  gru(x, h, { h: before }) {
    const [r, z] = [0, 1].map((gate) => nn.sigmoid(x[gate].add(h[gate])));
    const n = np.tanh(x[2].add(r.mul(h[2])));
    return { h: n.ref.add(z.mul(before.sub(n))) };
  },
};

/** Logits of a recurrent layer and its readout, `[rows, vocabulary]`. */
function recurrent({ kind, width, context, batch, vocabulary }, next, inputs) {
  const [fromInput, fromState, bias, stateBias] = [next(), next(), next(), next()];
  const gates = fromState.shape[1] / width;
  const parts = (x) => (gates === 1 ? [x] : np.split(x, gates, 1));
  const read = np.matmul(nn.oneHot(inputs, vocabulary), fromInput).add(bias);
  const steps = np.split(read.reshape([batch, context, gates * width]), context, 1);
  let state = { h: np.zeros([batch, width]) };
  if (kind === "lstm") state.c = np.zeros([batch, width]);
  const states = steps.map((step) => {
    const recalled = np.matmul(state.h.ref, fromState.ref).add(stateBias.ref);
    const { h, ...rest } = state;
    // Only a GRU's state goes into the next one beside the gates.
    if (kind === "gru") rest.h = h;
    else h.dispose();
    const x = step.reshape([batch, gates * width]);
    state = CELLS[kind](parts(x), parts(recalled), rest);
    return state.h.ref.reshape([batch, 1, width]);
  });
  for (const left of [...Object.values(state), fromState, stateBias]) left.dispose();
  const rows = np.concatenate(states, 1).reshape([batch * context, width]);
  return np.matmul(rows, next()).add(next());
}

/** Builds the model; answers `{step}`, which takes one training step and resolves to its loss. */
export async function build(settings, text) {
  await init("wasm");
  defaultDevice("wasm");
  const { kind, context, batch, vocabulary } = settings;
  const list = parameters(settings);
  const rows = batch * context;
  const ref = (arrays) => arrays.map((array) => array.ref);
  const forward = kind === "gpt" ? gpt : recurrent;

  const loss = (weights, inputs, targets) => {
    const queue = [...weights];
    const logits = forward(settings, () => queue.shift(), inputs);
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
      const now = rateAt(++steps, settings);
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
