// The GPT in TensorFlow.js on its wasm backend. The library has no AdamW and no operation for layer
// norm or GELU; what is not there is composed. Tuned where that helped: products have two
// dimensions (its broadcasting of batched products is slower), the embedding is a product (the
// gradient of a gather has no wasm kernel), and AdamW runs over one flat tensor.
import { ADAM, initial, parameters, rateAt, windows } from "./workload.mjs";

/** See jax-js.mjs. */
export async function build(settings, text) {
  const { tf } = globalThis;
  tf.wasm.setWasmPaths("./node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  await tf.ready();
  const { layers, heads, width, context, batch, vocabulary, rate } = settings;
  const list = parameters(settings);
  const rows = batch * context;
  const part = width / heads;
  const hidden = tf.tidy(() =>
    tf.sub(tf.linalg.bandPart(tf.ones([context, context]), -1, 0), 1).mul(1e9),
  );

  const norm = (x, gain, bias) => {
    const centred = x.sub(x.mean(-1, true));
    const variance = centred.square().mean(-1, true);
    return centred.mul(variance.add(1e-5).rsqrt()).mul(gain).add(bias);
  };
  const gelu = (x) => x.mul(0.5).mul(x.mul(Math.SQRT1_2).erf().add(1));
  const split = (x) => x.reshape([batch, context, heads, part]).transpose([0, 2, 1, 3]);

  const loss = (inputs, targets) => (...weights) => {
    let at = 0;
    const next = () => weights[at++];
    let x = tf.matMul(inputs, next()).reshape([batch, context, width]).add(next());
    x = x.reshape([rows, width]);
    for (let layer = 0; layer < layers; layer++) {
      const qkv = tf.matMul(norm(x, next(), next()), next()).add(next());
      const [q, k, v] = tf.split(qkv, 3, 1).map(split);
      const scores = tf.matMul(q, k, false, true).mul(1 / Math.sqrt(part)).add(hidden);
      const mixed = tf.matMul(tf.softmax(scores), v).transpose([0, 2, 1, 3]).reshape([rows, width]);
      x = x.add(tf.matMul(mixed, next()).add(next()));
      const inner = gelu(tf.matMul(norm(x, next(), next()), next()).add(next()));
      x = x.add(tf.matMul(inner, next()).add(next()));
    }
    const logits = tf.matMul(norm(x, next(), next()), next());
    return tf.losses.softmaxCrossEntropy(targets, logits);
  };

  const sizes = list.map(({ size }) => size);
  const total = sizes.reduce((a, b) => a + b);
  const flat = (values) => tf.concat(values.map((value) => tf.tensor1d(value)));
  // 1 where weights decay: matrices only.
  const decays = flat(list.map(({ size, shape }) => new Float32Array(size).fill(shape.length > 1 ? 1 : 0)));
  let state = [flat(initial(list)), tf.zeros([total]), tf.zeros([total])];
  const draw = windows(text, settings);
  let steps = 0;
  return {
    async step() {
      const batchOf = draw();
      const now = rateAt(++steps, rate);
      const [value, ...after] = tf.tidy(() => {
        const hot = (ids) => tf.oneHot(tf.tensor1d(ids, "int32"), vocabulary).toFloat();
        const weights = tf.split(state[0], sizes).map((piece, i) => piece.reshape(list[i].shape));
        const { value, grads } = tf.valueAndGrads(loss(hot(batchOf.inputs), hot(batchOf.targets)))(weights);
        const raw = tf.concat(grads.map((gradient) => gradient.flatten()));
        const clip = tf.minimum(tf.div(ADAM.clip, raw.square().sum().sqrt().add(1e-6)), 1);
        const gradient = raw.mul(clip);
        const m = state[1].mul(ADAM.beta1).add(gradient.mul(1 - ADAM.beta1));
        const v = state[2].mul(ADAM.beta2).add(gradient.square().mul(1 - ADAM.beta2));
        const scale = v.sqrt().mul(1 / Math.sqrt(1 - ADAM.beta2 ** steps)).add(ADAM.epsilon);
        const kept = state[0].sub(state[0].mul(decays).mul(now * ADAM.decay));
        return [value, kept.sub(m.div(scale).mul(now / (1 - ADAM.beta1 ** steps))), m, v];
      });
      tf.dispose(state);
      state = after;
      const [number] = await value.data();
      value.dispose();
      return number;
    },
  };
}
