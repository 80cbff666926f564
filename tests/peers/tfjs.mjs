// The GPT in TensorFlow.js on its wasm backend. The library has no AdamW and no operation for layer
// norm or GELU; what is not there is composed. Tuned where that helped: the backend's fast product
// takes no transposed operands, which the library's own gradients give it, so products have a
// gradient of ours with explicit transposes, and two dimensions; the embedding is a product (the
// gradient of a gather has no wasm kernel). One flat tensor of all parameters for AdamW did not pay:
// splitting it took longer than a kernel for each parameter.
import { ADAM, initial, parameters, rateAt, windows } from "./workload.mjs";

/** See jax-js.mjs. */
export async function build(settings, text) {
  const { tf } = globalThis;
  tf.wasm.setWasmPaths("./node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  await tf.ready();
  const { layers, heads, width, context, batch, vocabulary } = settings;
  const list = parameters(settings);
  const rows = batch * context;
  const part = width / heads;
  const hidden = tf.tidy(() =>
    tf.sub(tf.linalg.bandPart(tf.ones([context, context]), -1, 0), 1).mul(1e9),
  );

  const turned = (x) => x.transpose(x.rank === 2 ? [1, 0] : [0, 1, 3, 2]);
  const product = tf.customGrad((a, b, save) => {
    save([a, b]);
    return {
      value: tf.matMul(a, b),
      gradFunc: (upstream, [a, b]) => [
        tf.matMul(upstream, turned(b)),
        tf.matMul(turned(a), upstream),
      ],
    };
  });
  const norm = (x, gain, bias) => {
    const centered = x.sub(x.mean(-1, true));
    const variance = centered.square().mean(-1, true);
    return centered.mul(variance.add(1e-5).rsqrt()).mul(gain).add(bias);
  };
  const gelu = (x) => x.mul(0.5).mul(x.mul(Math.SQRT1_2).erf().add(1));
  const split = (x) => x.reshape([batch, context, heads, part]).transpose([0, 2, 1, 3]);

  const loss = (inputs, targets) => (...weights) => {
    let at = 0;
    const next = () => weights[at++];
    let x = product(inputs, next()).reshape([batch, context, width]).add(next());
    x = x.reshape([rows, width]);
    for (let layer = 0; layer < layers; layer++) {
      const qkv = product(norm(x, next(), next()), next()).add(next());
      const [q, k, v] = tf.split(qkv, 3, 1).map(split);
      const scores = product(q, turned(k)).mul(1 / Math.sqrt(part)).add(hidden);
      const mixed = product(tf.softmax(scores), v).transpose([0, 2, 1, 3]).reshape([rows, width]);
      x = x.add(product(mixed, next()).add(next()));
      const inner = gelu(product(norm(x, next(), next()), next()).add(next()));
      x = x.add(product(inner, next()).add(next()));
    }
    const logits = product(norm(x, next(), next()), next());
    return tf.losses.softmaxCrossEntropy(targets, logits);
  };

  const tensors = (values) => values.map((value, i) => tf.tensor(value, list[i].shape));
  const zeros = () => list.map(({ shape }) => tf.zeros(shape));
  let [weights, first, second] = [tensors(initial(list)), zeros(), zeros()];
  const draw = windows(text, settings);
  let steps = 0;
  return {
    async step() {
      const batchOf = draw();
      const now = rateAt(++steps, settings);
      const [value, ...after] = tf.tidy(() => {
        const hot = (ids) => tf.oneHot(tf.tensor1d(ids, "int32"), vocabulary).toFloat();
        const { value, grads } = tf.valueAndGrads(loss(hot(batchOf.inputs), hot(batchOf.targets)))(weights);
        const norm = tf.addN(grads.map((gradient) => gradient.square().sum())).sqrt();
        const clip = tf.minimum(tf.div(ADAM.clip, norm.add(1e-6)), 1);
        const [stepSize, secondScale] = [now / (1 - ADAM.beta1 ** steps), 1 / Math.sqrt(1 - ADAM.beta2 ** steps)];
        const after = weights.map((weight, i) => {
          const gradient = grads[i].mul(clip);
          const m = first[i].mul(ADAM.beta1).add(gradient.mul(1 - ADAM.beta1));
          const v = second[i].mul(ADAM.beta2).add(gradient.square().mul(1 - ADAM.beta2));
          const scale = v.sqrt().mul(secondScale).add(ADAM.epsilon);
          const kept = weight.rank > 1 ? weight.mul(1 - now * ADAM.decay) : weight;
          return [kept.sub(m.div(scale).mul(stepSize)), m, v];
        });
        return [value, ...[0, 1, 2].map((which) => after.map((tensors) => tensors[which]))];
      });
      tf.dispose([weights, first, second]);
      [weights, first, second] = after;
      const [number] = await value.data();
      value.dispose();
      return number;
    },
  };
}
