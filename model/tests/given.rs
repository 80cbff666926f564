//! Models of another's making that can't be. What those compute that can is compared with Hugging Face's
//! `tokenizers` beside the code that reads theirs (`src/tokenizer/files.rs`), and with `transformers` by the
//! app's tests, which read the files as the page does (`app/src/kept/arriving.rs`).

use burn::tensor::Device;
use unroll_model::{Filling, GivenError, GivenTokens, Tokenizer};
use unroll_protocol::{Architecture, GptSpec, SpecError, Weights, architecture::Activation};

/// Of 300 tokens: the bytes, and some that no merge makes.
fn small() -> (GptSpec, Tokenizer) {
    let feed_forward = Some(Activation::GeluTanh);
    let architecture = Architecture { feed_forward, ..Architecture::GPT2 };
    let gpt = GptSpec {
        layers: 2,
        heads: 4,
        width: 48,
        context: 96,
        dropout: 0.0,
        tied: true,
        architecture,
    };
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let pieces = bytes.chain((256..300).map(|id| format!("<{id}>").into_bytes())).collect();
    let tokens = GivenTokens { pieces, ..GivenTokens::default() };
    (gpt, Tokenizer::given(&tokens).unwrap())
}

#[test]
fn what_can_not_be_a_model_is_refused() {
    let device = Device::flex();
    let with = |change: fn(&mut GptSpec)| {
        let (mut gpt, tokenizer) = small();
        change(&mut gpt);
        Filling::with_tokenizer(gpt, tokenizer, &device).err()
    };
    assert_eq!(with(|_| {}), None);
    let context = with(|gpt| gpt.context = 4096);
    assert!(matches!(context, Some(GivenError::Spec(SpecError::TooLargeToOpen { .. }))));
    let large = with(|gpt| (gpt.width, gpt.layers) = (1600, 48));
    assert!(matches!(large, Some(GivenError::Spec(SpecError::TooLargeToOpen { .. }))));
    let heads = with(|gpt| gpt.heads = 5);
    assert!(matches!(heads, Some(GivenError::Spec(SpecError::HeadsDoNotDivide { .. }))));

    let (gpt, tokenizer) = small();
    let mut filling = Filling::with_tokenizer(gpt, tokenizer, &device).unwrap();
    let piece = |parameter, begin, row, stride, values: &[f32]| Weights {
        parameter,
        begin,
        row,
        stride,
        values: values.to_vec(),
    };
    let mut refused = |weights: Weights| filling.put(&weights).unwrap_err();
    // There are 300 tokens of 48 numbers.
    for weights in [
        piece(99, 0, 1, 0, &[1.0]),
        piece(0, 14_400, 1, 0, &[1.0]),
        piece(0, 14_399, 2, 0, &[1.0; 2]),
        piece(0, u32::MAX, 1, u32::MAX, &[1.0; 3]),
        piece(0, 0, 2, 1, &[1.0; 4]),
        piece(0, 0, 2, 2, &[1.0; 3]),
        piece(0, 0, 0, 0, &[1.0]),
        piece(0, 0, 1, 1, &[]),
        piece(0, 0, 1, 14_399, &[1.0; 3]),
    ] {
        assert_eq!(refused(weights), GivenError::Outside);
    }
    let name = "token_embedding.weight".to_owned();
    assert_eq!(refused(piece(0, 5, 1, 0, &[f32::NAN])), GivenError::NotFinite { name });
    assert_eq!(filling.put(&piece(0, 0, 1, 14_399, &[1.0; 2])), Ok(2));
}
