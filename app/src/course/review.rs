//! The mixed review where a part of the course ends: five questions out of its chapters, once more.
//!
//! The questions stay in their chapters' files. The review fetches those and borrows their scripts.

use leptos::{html, prelude::*, task::spawn_local};
use unroll_protocol::link::Chapter;

use super::{Borrow, ChapterLink, Progress, list::part_ended_by};
use crate::{
    chapters,
    fetched::{Fetch, View, part},
    store::Store,
    teaching::{Quiz, quiz_again},
};

/// The review at the end of the chapter on show.
pub const REVIEW: Fetch = part!(review: View = || view! { <Review/> }.into_any());

/// Questions in one round.
const ROUND: usize = 5;
/// With fewer there is nothing to mix.
const FEWEST: usize = 3;
/// With fewer chapters, likewise.
const FEWEST_CHAPTERS: usize = 2;
/// Chapters that are named to whoever has read fewer: of the whole course there would be too many.
const MOST_NAMED: usize = 6;

/// What the review at the end of this chapter is about, in words, and the chapters it asks about: those of the
/// part that ends here, or of the whole course.
fn about(end: Chapter) -> (String, Vec<Chapter>) {
    let (what, entries) = match part_ended_by(end) {
        Some((part, entries)) if end != Chapter::Gpt => {
            (format!("the chapters on {}", part.to_lowercase()), entries)
        }
        // The first chapter prepares, and is asked about nowhere.
        _ => ("the whole course".to_owned(), &chapters::ALL[1..]),
    };
    (what, entries.iter().map(|entry| entry.id).collect())
}

/// A number that looks like chance, the same for the same round and place.
fn shuffled(round: u32, place: usize) -> u32 {
    let mut x = round.wrapping_mul(0x9E37_79B9) ^ (place as u32).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

/// Which of the questions a round asks, in its order. Each is given by its chapter and how it went
/// in a review before: those never asked come first, then those that were wrong. No two in a row
/// are from one chapter, and the chapters take turns.
fn draw(questions: &[(Chapter, Option<bool>)], round: u32) -> Vec<usize> {
    let mut drawn: Vec<usize> = Vec::new();
    while drawn.len() < ROUND {
        let last = drawn.last().map(|last| questions[*last].0);
        let open = (0..questions.len())
            .filter(|i| !drawn.contains(i) && Some(questions[*i].0) != last)
            .min_by_key(|i| {
                let (chapter, before) = questions[*i];
                let asked = drawn.iter().filter(|i| questions[**i].0 == chapter).count();
                (before.map(|right| (right, 0)), asked, shuffled(round, *i))
            });
        let Some(next) = open else { break };
        drawn.push(next);
    }
    drawn
}

/// The order of the options of the question at this place of a round.
fn order(options: usize, round: u32, place: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..options).collect();
    order.sort_by_key(|option| shuffled(round, 100 + 10 * place + option));
    order
}

/// One question of the course.
#[derive(Clone, Copy)]
struct Question {
    chapter: Chapter,
    quiz: &'static Quiz,
}

/// What the section shows.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Invitation,
    Underway,
    Failed,
    TooFew,
    /// The question at this place of the round.
    Question(usize),
    Result,
}

/// One round of questions.
#[derive(Clone, Default)]
struct Round {
    number: u32,
    /// All that may be asked.
    all: Vec<Question>,
    drawn: Vec<Question>,
    wrong: Vec<Question>,
}

impl Round {
    /// Draws from `all`; nothing is counted where there is too little to ask.
    fn begin(&mut self, end: Chapter, progress: Progress) -> Shown {
        let before = |q: &Question| (q.chapter, progress.reviewed(q.chapter, q.quiz.id));
        let before: Vec<_> = self.all.iter().map(before).collect();
        if draw(&before, 0).len() < FEWEST {
            return Shown::TooFew;
        }
        self.number = progress.next_round(end);
        self.drawn = draw(&before, self.number).into_iter().map(|i| self.all[i]).collect();
        self.wrong.clear();
        Shown::Question(0)
    }
}

/// Every question of these chapters; `None` where one could not be fetched.
async fn collect(chapters: Vec<Chapter>) -> Option<Vec<Question>> {
    let mut all = Vec::new();
    for chapter in chapters {
        let script = Borrow::script_of(chapters::lender(chapter)().await.ok()?)?;
        all.extend(script.quizzes.iter().map(|quiz| Question { chapter, quiz }));
    }
    Some(all)
}

/// Links to these chapters, each once.
fn links(mut chapters: Vec<Chapter>) -> AnyView {
    chapters.dedup();
    let link = |chapter: Chapter| {
        view! { <li><ChapterLink chapter>{chapters::info(chapter).title()}</ChapterLink></li> }
    };
    view! { <ul>{chapters.into_iter().map(link).collect_view()}</ul> }.into_any()
}

#[component]
fn Review() -> impl IntoView {
    let progress = expect_context::<Progress>();
    let end = expect_context::<Store>().link.with_untracked(|link| link.chapter);
    let (what, asked) = about(end);
    let asked = StoredValue::new(asked);
    let asked_where = move |seen: bool| -> Vec<Chapter> {
        let is_wanted = |chapter: &Chapter| untrack(|| progress.has_seen(*chapter)) == seen;
        asked.with_value(|asked| asked.iter().copied().filter(is_wanted).collect())
    };
    let (round, shown) = (StoredValue::new(Round::default()), RwSignal::new(Shown::Invitation));
    let answered = RwSignal::new(false);
    let section = NodeRef::<html::Div>::new();
    // The button that was pressed goes: readers by ear and keyboard go on at what takes its place.
    let show = move |next: Shown| {
        answered.set(false);
        shown.set(next);
        request_animation_frame(move || {
            if let Some(section) = section.try_get_untracked().flatten() {
                let _ = section.focus();
            }
        });
    };
    let draw_next = move || {
        if let Some(next) = round.try_update_value(|round| round.begin(end, progress)) {
            show(next);
        }
    };
    let begin = move || {
        show(Shown::Underway);
        let seen = asked_where(true);
        spawn_local(async move {
            let all = collect(seen).await;
            // The learner may be elsewhere by now.
            if shown.try_get_untracked().is_none() {
                return;
            }
            match all {
                Some(all) => {
                    round.update_value(|round| round.all = all);
                    draw_next();
                }
                None => show(Shown::Failed),
            }
        });
    };
    let button = move |label: &'static str, testid: &'static str| {
        view! {
            <button type="button" class="button" data-testid=testid on:click=move |_| begin()>
                {label}
            </button>
        }
    };
    let question = move |place: usize| {
        let (Question { chapter, quiz }, number, count) =
            round.with_value(|round| (round.drawn[place], round.number, round.drawn.len()));
        let note = move |right: bool| {
            progress.review(chapter, quiz.id, right);
            if !right {
                round.update_value(|round| round.wrong.push(Question { chapter, quiz }));
            }
            answered.set(true);
        };
        let (right, wrong) =
            (Callback::new(move |()| note(true)), Callback::new(move |()| note(false)));
        let order = order(quiz.options.len(), number, place);
        let last = place + 1 == count;
        let next = move |_| show(if last { Shown::Result } else { Shown::Question(place + 1) });
        view! {
            <p class="hint" data-testid="review-place">
                {format!("Question {} of {count}, from ", place + 1)}
                <ChapterLink chapter>{chapters::info(chapter).title()}</ChapterLink>
            </p>
            {quiz_again(quiz, "review", order, right, wrong)}
            {move || answered.get().then(|| view! {
                <button type="button" class="button" data-testid="review-next" on:click=next>
                    {if last { "See the result" } else { "Next" }}
                </button>
            })}
        }
        .into_any()
    };
    let result = move || {
        let Round { all, drawn, wrong, .. } = round.get_value();
        let known = all.iter().filter(|q| progress.knows(q.chapter, q.quiz.id)).count();
        let is_left = |q: &Question| progress.reviewed(q.chapter, q.quiz.id) != Some(true);
        let more = all.iter().any(is_left);
        let mut again: Vec<Chapter> = wrong.iter().map(|q| q.chapter).collect();
        again.sort_by_key(|chapter| Chapter::ALL.iter().position(|c| c == chapter));
        view! {
            <p data-testid="review-result">
                <strong>{format!("{} of {}", drawn.len() - wrong.len(), drawn.len())}</strong>
                " correct. "
                {format!(
                    "You know {known} of the {} questions. A question counts as known once you have answered \
                     it correctly in its chapter and again in a review.",
                    all.len(),
                )}
            </p>
            {(!again.is_empty()).then(|| view! {
                <p>"Go back to the chapters of the questions you missed:"</p>
                {links(again)}
            })}
            {if more {
                view! {
                    <button type="button" class="button" data-testid="review-more"
                        on:click=move |_| draw_next()>
                        "More questions"
                    </button>
                }
                .into_any()
            } else {
                view! { <p>"You have now answered every question correctly in a review."</p> }.into_any()
            }}
        }
        .into_any()
    };
    let too_few = move || {
        view! {
            <p data-testid="review-first">
                "A review mixes chapters you have read. Read some of these first:"
            </p>
            {links(asked_where(false))}
        }
        .into_any()
    };
    let body = move || {
        match shown.get() {
        Shown::Invitation if asked_where(true).len() < FEWEST_CHAPTERS => view! {
            <p data-testid="review-later">
                {format!(
                    "{ROUND} mixed questions from {what} will be waiting here once you have read more \
                     of them. Still to read:"
                )}
            </p>
            {links(asked_where(false).into_iter().take(MOST_NAMED).collect())}
        }
        .into_any(),
        Shown::Invitation => view! {
            <p>
                {format!(
                    "Getting an answer right once is not the same as knowing it. Here are {ROUND} \
                     mixed questions from {what}, about what you have read so far."
                )}
            </p>
            {button("Begin the review", "review-begin")}
        }
        .into_any(),
        Shown::Underway => {
            view! { <p class="hint" role="status">"Loading the questions …"</p> }.into_any()
        }
        Shown::Failed => view! {
            <p role="alert">"The questions could not be loaded."</p>
            {button("Try again", "review-begin")}
        }
        .into_any(),
        Shown::TooFew => too_few(),
        Shown::Question(place) => question(place),
        Shown::Result => result(),
    }
    };
    view! {
        <div class="review" role="group" aria-label="Review" tabindex="-1" node_ref=section
            data-testid="review">
            {body}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three questions from each chapter on memory, none asked so far.
    fn fresh() -> Vec<(Chapter, Option<bool>)> {
        about(Chapter::Norm).1.into_iter().flat_map(|chapter| [(chapter, None); 3]).collect()
    }

    #[test]
    fn every_chapter_with_a_model_is_in_a_review() {
        let wanted: Vec<Chapter> =
            Chapter::ALL.iter().copied().filter(|chapter| chapter.has_model()).collect();
        assert_eq!(about(Chapter::Gpt), ("the whole course".to_owned(), wanted));
        let (what, asked) = about(Chapter::Block);
        assert_eq!((&*what, asked.len()), ("the chapters on attention", 7));
    }

    #[test]
    fn a_round_mixes_chapters_and_repeats_nothing() {
        let all = fresh();
        for round in 0..50 {
            let drawn = draw(&all, round);
            assert_eq!(drawn.len(), ROUND);
            let mut chapters: Vec<Chapter> = drawn.iter().map(|i| all[*i].0).collect();
            chapters.sort_by_key(|chapter| Chapter::ALL.iter().position(|c| c == chapter));
            chapters.dedup();
            assert_eq!(chapters.len(), ROUND, "{drawn:?}");
        }
        assert_ne!(draw(&all, 1), draw(&all, 2));
        // Two chapters take turns.
        let two: Vec<_> = all[..6].to_vec();
        let drawn = draw(&two, 3);
        assert!(drawn.windows(2).all(|pair| two[pair[0]].0 != two[pair[1]].0), "{drawn:?}");
        assert_eq!(drawn.len(), ROUND);
    }

    #[test]
    fn what_was_never_asked_comes_first_then_what_was_wrong() {
        let mut all: Vec<_> = fresh().iter().map(|(chapter, _)| (*chapter, Some(true))).collect();
        all[0].1 = Some(false);
        all[3].1 = None;
        all[9].1 = None;
        let mut first = draw(&all, 7)[..2].to_vec();
        first.sort_unstable();
        assert_eq!((first, draw(&all, 7)[2]), (vec![3, 9], 0));
    }

    #[test]
    fn every_question_is_asked_before_one_comes_again() {
        let mut all = fresh();
        for round in 1..=4 {
            for i in draw(&all, round) {
                assert_eq!(all[i].1, None, "round {round}");
                all[i].1 = Some(true);
            }
        }
    }

    #[test]
    fn one_chapter_alone_is_too_few() {
        assert!(draw(&[(Chapter::Norm, None); 4], 1).len() < FEWEST);
        assert!(draw(&[], 1).is_empty());
    }

    #[test]
    fn the_right_answer_has_no_place_of_its_own() {
        let mut firsts = [0; 3];
        for round in 0..60 {
            for place in 0..ROUND {
                let mut order = order(3, round, place);
                firsts[order[0]] += 1;
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2]);
            }
        }
        assert!(firsts.iter().all(|count| (70..130).contains(count)), "{firsts:?}");
    }
}
