// Lab 19, parts 2, 3 and 5: pairs of layers, attention by heads, divided tokens.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab19 {
namespace {

using judge::misconception;

Json sizes_json(const Sizes& sizes) {
  return {sizes.t, sizes.width, sizes.inner, sizes.heads, sizes.is_attention};
}

std::string text_of(const PairRun& run) {
  const Sizes& sizes = run.sizes;
  const std::string what = sizes.is_attention ? fmt::format("attention with {} heads of {} columns",
                                                            sizes.heads, sizes.inner / sizes.heads)
                                              : fmt::format("an MLP with {} columns inside", sizes.inner);
  return fmt::format("{}{}, width {}, {} tokens, {}", run.is_sequence ? "divided tokens, " : "", what,
                     sizes.width, sizes.t, run.dtype);
}

// A pair on one rank: what it gives, and the gradients of its layers.
struct OneRank {
  Matrix x, grad, hidden, inner, y, of_inner, of_hidden, of_x;
  TwoLayers gradients;
};
OneRank on_one_rank(const TwoLayers& pair, const Sizes& sizes, std::int64_t heads, Seed seed) {
  OneRank one;
  one.x = numbers(seed, input, sizes.t, sizes.width);
  one.grad = numbers(seed, output_gradient, sizes.t, sizes.width);
  one.hidden = pair.first.forward(one.x);
  one.inner = middle_forward(one.hidden, heads, sizes.is_attention);
  one.y = pair.second.forward(one.inner);
  one.of_inner = one.grad * pair.second.weight;
  one.of_hidden = middle_backward(one.hidden, one.of_inner, heads, sizes.is_attention);
  one.of_x = one.of_hidden * pair.first.weight;
  one.gradients = {{one.of_hidden.transposed() * one.x, one.of_hidden.sum_of_rows()},
                   {one.grad.transposed() * one.inner, one.grad.sum_of_rows()}};
  return one;
}

// This rank's rows in part 5, otherwise all.
Part own_tokens(const PairRun& run, const Place& place) {
  const std::int64_t count = run.is_sequence ? run.sizes.t / place.n : run.sizes.t;
  return {run.is_sequence ? place.rank * count : 0, count};
}

// The whole layers, for a rank that cuts them: what other ranks have is something else.
Layer with_noise(const Layer& whole, Seed seed, bool is_first, const Sizes& sizes, const Place& place) {
  Layer told = whole;
  const Part part = inner_part(sizes, place.rank, place.n);
  const Matrix other =
      numbers(seed, noise + (is_first ? 0 : 1) + 2 * place.job_rank, whole.weight.rows, whole.weight.columns);
  const auto is_own = [&](std::int64_t at) {
    const std::int64_t inner = at % sizes.inner;
    return inner >= part.first && inner < part.first + part.count;
  };
  for (std::int64_t i = 0; i < whole.weight.rows; ++i)
    for (std::int64_t k = 0; k < whole.weight.columns; ++k)
      if (!is_own(is_first ? i : k)) told.weight(i, k) = other(i, k);
  return told;
}

struct PairQuestion {
  Seed seed = 0;
  PairRun run;
  Question question;
};
PairQuestion ask_pair(judge::Random& random, const PairRun& run, const std::string& phase,
                      const std::string& about) {
  const Seed seed = draw_seed(random);
  const auto own = [seed, run, phase](const Place& place) {
    const TwoLayers whole = right_pair(seed, run.sizes), before = gradients_before(seed, whole),
                    mine = part_of_pair(whole, run.sizes, place.rank, place.n),
                    my_before = part_of_pair(before, run.sizes, place.rank, place.n);
    const Part tokens = own_tokens(run, place);
    const Matrix x = numbers(seed, input, run.sizes.t, run.sizes.width);
    Json told{
        {"x", as_json(x.rows_of(tokens))},
        {"grad", as_json(numbers(seed, output_gradient, run.sizes.t, run.sizes.width).rows_of(tokens))}};
    if (run.call == "attention") {
      told["first"] = as_json(with_noise(whole.first, seed, true, run.sizes, place));
      told["second"] = as_json(with_noise(whole.second, seed, false, run.sizes, place));
      told["first_before"] = as_json(before.first);
      told["second_before"] = as_json(before.second);
      told["first_own_before"] = as_json(my_before.first);
      told["second_own_before"] = as_json(my_before.second);
      return told;
    }
    told["first"] = as_json(mine.first);
    told["second"] = as_json(mine.second);
    told["first_before"] = as_json(my_before.first);
    told["second_before"] = as_json(my_before.second);
    if (phase == "backward") {
      const Matrix hidden = mine.first.forward(x);
      told["hidden"] = as_json(hidden);
      told["inner"] = as_json(middle_forward(hidden, right_part(run.sizes.heads, place.rank, place.n).count,
                                             run.sizes.is_attention));
    }
    return told;
  };
  const Json task{{"call", run.call},
                  {"phase", phase},
                  {"dtype", run.dtype},
                  {"sizes", sizes_json(run.sizes)},
                  {"sequence", run.is_sequence}};
  return {seed, run, {task, run.groups, own, about}};
}

struct Answer {
  const OneRank &whole, &own;  // of the whole pair, and of the pair of this rank's parts
  const Layer& second;         // whole
  Place place;
  Part tokens;                         // this rank's
  const TwoLayers &computed, &before;  // this rank's gradients: what backward adds, and to what
  Matrix of_x_with_inner;              // the gradient of x if the middle's backward was given kept.inner
};

std::vector<Wrong> wrong_outputs(const Answer& answer) {
  const auto own = [&](const Matrix& all) { return all.rows_of(answer.tokens); };
  const Matrix &y = answer.whole.y, &bias = answer.second.bias;
  return {
      {own(plus(y, bias, answer.place.n - 1)), "adds_the_bias_n_times",
       "the bias of the second layer is in y once per rank; fix: one rank of the group adds it to its "
       "summand"},
      {own(plus(y, bias, -1)), "no_rank_adds_the_bias",
       "the bias of the second layer is missing in y; fix: rank 0 of the group adds it to its summand"},
      {own(times(y, 1.0 / answer.place.n)), "averages_instead_of_sums",
       "y is divided by the number of ranks; fix: ReduceOp::sum"},
      {own(answer.own.y), "forgets_the_forward_all_reduce",
       "y is this rank's summand only; fix: sum over the ranks after the second layer"},
      {answer.whole.y, "keeps_all_tokens", "the result has all tokens; fix: each rank returns its own t/n"}};
}

std::vector<Wrong> wrong_input_gradients(const Answer& answer) {
  const auto own = [&](const Matrix& all) { return all.rows_of(answer.tokens); };
  return {{own(answer.of_x_with_inner), "gives_the_middle_its_own_output",
           "the backward of the middle was given what its forward returned, kept.inner; fix: it needs what "
           "forward was given, kept.hidden"},
          {own(answer.own.of_x), "forgets_the_backward_all_reduce",
           "the gradient of x is what this rank's columns contribute; fix: sum it over the ranks"},
          {own(times(answer.whole.of_x, 1.0 / answer.place.n)), "averages_instead_of_sums",
           "the gradient of x is divided by the number of ranks; fix: ReduceOp::sum"},
          {own(times(answer.whole.of_x, answer.place.n)), "sums_what_is_whole",
           "the gradient of x is n times too large: something that every rank has whole was summed; fix: sum "
           "summands only"}};
}

bool pair_is_right(const std::string& about, const PairRun& run, const std::string& phase,
                   const Answer& answer, const Json& reply) {
  const TwoLayers &computed = answer.computed, &before = answer.before;
  const auto own = [&](const Matrix& all) { return all.rows_of(answer.tokens); };
  const std::vector<Wrong> first{
      overwrites_the_gradients(computed.first),
      {plus(own(answer.own.of_hidden).transposed() * own(answer.own.x), before.first.weight),
       "gradients_of_own_tokens_only",
       "the gradients of the first layer belong to this rank's tokens only; no other rank has this part of "
       "the weight; fix: all tokens of x, gathered, and of the gradient"}};
  std::vector<Wrong> second{overwrites_the_gradients(computed.second)};
  if (answer.own.hidden.columns == before.second.weight.columns)
    second.push_back(
        {plus(answer.own.grad.transposed() * answer.own.hidden, before.second.weight),
         "keeps_the_wrong_activation",
         "the gradient of the second layer's weight was computed with the first layer's output; its input is "
         "what the middle made of that; fix: kept.inner = middle.forward(...)"});
  const bool has_forward = phase != "backward";
  return (!has_forward ||
          is_right(about + ", y", own(answer.whole.y), reply.at("y"), run.dtype, wrong_outputs(answer))) &&
         is_right(about + ", the gradient of x", own(answer.whole.of_x), reply.at("of_x"), run.dtype,
                  wrong_input_gradients(answer)) &&
         gradients_are_right(about + ", first", plus(before.first, computed.first), reply.at("first"),
                             run.dtype, first) &&
         gradients_are_right(about + ", second", plus(before.second, computed.second), reply.at("second"),
                             run.dtype, second);
}

// A division of the width without regard to heads, which divides none of them where they happen to fit.
bool splits_a_head(const Part& part, std::int64_t d) { return part.first % d != 0 || part.count % d != 0; }

// Wrong parts of the fused weight.
std::vector<Wrong> wrong_heads(const Layer& first, const Sizes& sizes, const Place& place) {
  const std::int64_t rows = first.weight.rows, width = rows / 3, d = width / sizes.heads;
  const auto of_three = [&](const Part& part) {
    Matrix all{0, sizes.width};
    for (std::int64_t which = 0; which < 3; ++which)
      all = below(all, first.weight.rows_of({which * width + part.first, part.count}));
    return all;
  };
  const Part heads = right_part(sizes.heads, place.rank, place.n),
             any = right_part(width, place.rank, place.n);
  std::vector<Wrong> wrong{
      {first.weight.rows_of(right_part(rows, place.rank, place.n)), "cuts_the_fused_weight_in_one_piece",
       "the 3 * width rows are divided as one matrix: the first ranks have queries only, the last ones "
       "values only; fix: divide the queries, the keys and the values, each by heads"},
      {first.weight.rows_of({3 * d * heads.first, 3 * d * heads.count}), "cuts_the_fused_weight_in_one_piece",
       "the rows are taken as if each head had its query, key and value side by side; fix: take the rows of "
       "the heads from the queries, from the keys and from the values, which follow each other"}};
  if (splits_a_head(any, d))
    wrong.push_back(
        {of_three(any), "cuts_across_heads",
         "the width is divided without regard to heads, so a head is split between two ranks, "
         "neither of which can compute its scores; fix: divide the heads, each of which has d rows"});
  return wrong;
}

std::vector<Wrong> wrong_columns(const Layer& second, const Sizes& sizes, const Place& place) {
  const Part any = right_part(sizes.inner, place.rank, place.n);
  if (!splits_a_head(any, sizes.inner / sizes.heads)) return {};
  return {{second.weight.columns_of(any), "cuts_across_heads",
           "the second layer's columns are divided without regard to heads; fix: the columns of the heads "
           "that this rank computes"}};
}

}  // namespace

namespace {

bool pair_is_right(const PairQuestion& asked, const Played& played) {
  const auto& [seed, run, question] = asked;
  const TwoLayers whole = right_pair(seed, run.sizes), before = gradients_before(seed, whole);
  const OneRank one = on_one_rank(whole, run.sizes, run.sizes.heads, seed);
  const Matrix of_x_with_inner =
      run.sizes.is_attention ? one.of_x
                             : middle_backward(one.inner, one.of_inner, 1, false) * whole.first.weight;
  const std::string phase = question.task.at("phase");
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const std::int64_t heads = right_part(run.sizes.heads, place.rank, place.n).count;
    const OneRank own =
        on_one_rank(part_of_pair(whole, run.sizes, place.rank, place.n), run.sizes, heads, seed);
    const TwoLayers computed = part_of_pair(one.gradients, run.sizes, place.rank, place.n),
                    own_before = part_of_pair(before, run.sizes, place.rank, place.n);
    const Answer answer{one,      own,        whole.second,   place, own_tokens(run, place),
                        computed, own_before, of_x_with_inner};
    const auto about = fmt::format("{}, group rank {} of {} (rank {} of the job)", text_of(run), place.rank,
                                   place.n, place.job_rank);
    if (!pair_is_right(about, run, phase, answer, played.replies[i])) return false;
  }
  return !played.replies.empty();
}

TrafficByName right_traffic(const PairRun& run, const std::string& phase) {
  const std::uint64_t bytes = 8 * static_cast<std::uint64_t>(run.sizes.t * run.sizes.width);
  if (!run.is_sequence) return {{all_reduce, {1, bytes}}};
  const std::uint64_t gathers = phase == "forward" ? 1 : 2;
  return {{all_gather, {gathers, gathers * bytes}}, {reduce_scatter, {1, bytes}}};
}

}  // namespace

void expect_pair(judge::Random& random, const PairRun& run, bool is_second) {
  const auto asked = ask_pair(random, run, "both", text_of(run));
  const auto played = play(asked.question);
  if (!pair_is_right(asked, played) || !is_second) return;
  PairRun other = run;
  other.dtype = run.dtype == "f64" ? "f32" : "f64";
  other.sizes.t *= 2;
  ++other.sizes.width;
  other.sizes.inner += static_cast<std::int64_t>(run.groups[0].size());
  expect_the_same(played, asked.question, ask_pair(random, other, "both", text_of(other)).question);
}

void expect_pair_traffic(judge::Random& random, const PairRun& run) {
  for (const std::string phase : {"forward", "backward"}) {
    const auto about = fmt::format("{} of {}", phase, text_of(run));
    const auto played = play(ask_pair(random, run, phase, about).question);
    if (!traffic_is_right(about, played, right_traffic(run, phase))) return;
  }
}

void expect_heads(judge::Random& random, const PairRun& run) {
  const Seed seed = draw_seed(random);
  const TwoLayers whole = right_pair(seed, run.sizes), before = gradients_before(seed, whole);
  const Json task{{"call", "cut"},
                  {"kind", "heads"},
                  {"dtype", run.dtype},
                  {"layers", 1},
                  {"sizes", sizes_json(run.sizes)},
                  {"first", as_json(whole.first)},
                  {"second", as_json(whole.second)},
                  {"first_before", as_json(before.first)},
                  {"second_before", as_json(before.second)}};
  const auto played =
      play({task, run.groups, [](const Place&) { return Json::object(); }, text_of(run), true});
  if (!traffic_is_right("cut_heads", played, {})) return;
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const TwoLayers right = part_of_pair(whole, run.sizes, place.rank, place.n),
                    cut = part_of_pair(before, run.sizes, place.rank, place.n);
    const auto about = fmt::format("{}, group rank {} of {}", text_of(run), place.rank, place.n);
    const Json &first = played.replies[i].at(0), &second = played.replies[i].at(1);
    const auto zeros = [](const Layer& layer) {
      return Layer{{layer.weight.rows, layer.weight.columns}, {1, layer.bias.columns}};
    };
    const Matrix whole_bias = whole.first.bias;
    if (!is_right(about + ", first, weight", right.first.weight, first.at(0), run.dtype,
                  wrong_heads(whole.first, run.sizes, place)) ||
        !is_right(about + ", first, bias", right.first.bias, first.at(1), run.dtype,
                  {{whole_bias, "cuts_the_weight_only",
                    "the bias of queries, keys and values is whole; fix: it is divided like the rows of the "
                    "weight"}},
                  Form::vector) ||
        !is_right(about + ", second, weight", right.second.weight, second.at(0), run.dtype,
                  wrong_columns(whole.second, run.sizes, place)) ||
        !is_right(about + ", second, bias", right.second.bias, second.at(1), run.dtype,
                  {shares_memory(right.second.bias)}, Form::vector) ||
        !gradients_are_right(about + ", first", zeros(right.first), first, run.dtype,
                             {cuts_the_gradients(cut.first)}) ||
        !gradients_are_right(about + ", second", zeros(right.second), second, run.dtype,
                             {cuts_the_gradients(cut.second)}))
      return;
  }
}

void expect_kept_tokens(judge::Random& random, int n) {
  const Sizes sizes{16 * n, 40, 2 * n};
  constexpr int pairs = 12;
  const auto about = fmt::format("{} pairs forward, {} tokens on {} ranks", pairs, sizes.t, n);
  auto asked = ask_pair(random, {"keep", sizes, one_group(n), "f64", true}, "forward", about);
  asked.question.task["pairs"] = pairs;
  const auto played = play(asked.question);
  // Each pair keeps its tokens of x, hidden and inner. Beside them: the weights, one x that is whole and one
  // y, each once more in the grader, where the collectives run, and half of one for everything small.
  const double x = 8.0 * static_cast<double>(sizes.t * sizes.width);
  const double kept = pairs * (x / n + 2 * 8.0 * static_cast<double>(sizes.t) * 2);
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const auto peak = static_cast<double>(played.done.report.peak_buffer_bytes[i]);
    if (peak <= kept + 5.5 * x) continue;
    misconception(
        "keeps_all_tokens",
        "the input of a pair is kept whole until backward, as without sequence parallelism; fix: keep this "
        "rank's tokens, and gather them once more in backward");
    ADD_FAILURE() << fmt::format("{}: rank {} may hold {:.0f} bytes at the same time; it held {:.0f}", about,
                                 i, kept + 5.5 * x, peak);
    return;
  }
}

namespace {

// When the first rank computes, and its gathers. In order of their begin.
struct Spans {
  std::vector<std::pair<std::int64_t, std::int64_t>> computes, gathers;  // picoseconds
};
Spans spans_of(const Played& played) {
  Spans spans;
  for (const auto& event : played.done.report.trace.events) {
    if (event.rank != 0) continue;
    if (event.kind == dist::trace::Kind::compute) spans.computes.emplace_back(event.begin, event.end);
    if (event.kind == dist::trace::Kind::call && event.name == all_gather)
      spans.gathers.emplace_back(event.begin, event.end);
  }
  std::ranges::sort(spans.computes);
  std::ranges::sort(spans.gathers);
  return spans;
}

void diagnose_waiting(const Played& played) {
  const auto [computes, gathers] = spans_of(played);
  if (gathers.size() == 2 && !computes.empty() &&
      (gathers[1].first < gathers[0].second || gathers[1].second <= computes[0].first)) {
    misconception("gathers_x_too_early",
                  "both gathers run before the second layer's backward can begin; it needs grad only; fix: "
                  "wait for the gather of grad, then start that of x, and compute");
    return;
  }
  const char* const what[] = {"second layer's backward has ended", "second layer's backward has ended",
                              "middle", "first layer's input_gradient()", "first layer's add_gradients()"};
  std::size_t widest = 1;
  for (std::size_t i = 1; i < std::min<std::size_t>(5, computes.size()); ++i)
    if (computes[i].first - computes[i - 1].second > computes[widest].first - computes[widest - 1].second)
      widest = i;
  misconception(
      "waits_where_it_could_compute",
      fmt::format("a collective is exposed although there is something to compute: rank 0 waits longest "
                  "before the {}; fix: the gather of x is needed by the first layer's "
                  "add_gradients() only, and starts before the second layer's backward; the "
                  "reduce-scatter runs while the first layer's add_gradients() computes",
                  what[std::min<std::size_t>(widest, 4)]));
}

// What the computations take, in times of a gather.
struct Shares {
  double input, weights, between;
};
void expect_hidden_with(judge::Random& random, int n, const Shares& shares) {
  const Sizes sizes{24 * n, 64, 4 * n};
  const double nothing = seconds_of(n, "", sizes.t, sizes.width),
               gather = seconds_of(n, all_gather, sizes.t, sizes.width),
               scatter = seconds_of(n, reduce_scatter, sizes.t, sizes.width);
  const double of_input = shares.input * gather, of_weights = shares.weights * gather,
               between = shares.between * gather;
  const double perfect = nothing + gather + std::max(gather, 2 * of_input + of_weights + between) +
                         std::max(scatter, of_weights);
  const PairRun run{"pair", sizes, one_group(n), "f64", true};
  const auto about = fmt::format("sequence_backward on {} ranks", n);
  auto asked = ask_pair(random, run, "backward", about);
  asked.question.task["seconds"] = {
      {"multiply", 0}, {"input_gradient", of_input}, {"add_gradients", of_weights}, {"middle", between}};
  const auto played = play(asked.question, true);
  if (!pair_is_right(asked, played) || !traffic_is_right(about, played, right_traffic(run, "backward")))
    return;
  for (int rank = 0; rank < n; ++rank)
    if (!judge::has_computed(played.done, rank, 2 * (of_input + of_weights) + between)) return;
  const double took = played.done.report.virtual_time_s;
  if (took * 0.96 <= perfect) return;
  diagnose_waiting(played);
  ADD_FAILURE() << fmt::format(
      "{}: input_gradient() takes {}, add_gradients() {}, the middle {}; a gather {}, a reduce-scatter {}: "
      "{} is possible, and {} is allowed; it took {}",
      about, in_us(of_input), in_us(of_weights), in_us(between), in_us(gather), in_us(scatter),
      in_us(perfect), in_us(perfect / 0.96), in_us(took));
}

}  // namespace

// The second layer's backward alone takes longer than a gather, or only with the middle.
void expect_hidden_tokens(judge::Random& random, int n) {
  for (const Shares& shares : {Shares{0.4, 1.25, 0.2}, Shares{0.1, 0.3, 1}}) {
    expect_hidden_with(random, n, shares);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_summed_gradients(judge::Random& random, const Groups& groups, const std::string& dtype,
                             bool is_second) {
  struct Asked {
    Seed seed;
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
    Question question;
  };
  const auto summand = [](const Asked& asked, std::size_t i, int job_rank) {
    return numbers(asked.seed,
                   noise + static_cast<std::uint32_t>(100 * job_rank) + static_cast<std::uint32_t>(i),
                   asked.sizes[i].first, asked.sizes[i].second);
  };
  const auto ask = [&](int count) {
    Asked asked{draw_seed(random), {}, {}};
    for (int i = count; i > 0; --i) asked.sizes.emplace_back(random.between(1, 3), random.between(1, 9));
    const auto own = [asked, summand](const Place& place) {
      Json gradients = Json::array();
      for (std::size_t i = 0; i < asked.sizes.size(); ++i)
        gradients.push_back(as_json(summand(asked, i, place.job_rank)));
      return Json{{"gradients", gradients}};
    };
    asked.question = {{{"call", "sum"}, {"dtype", dtype}},
                      groups,
                      own,
                      fmt::format("sum_gradients of {} gradients", count)};
    return asked;
  };
  const auto is_summed = [&](const Asked& asked, const Played& played) {
    for (std::size_t rank = 0; rank < played.replies.size(); ++rank)
      for (std::size_t i = 0; i < asked.sizes.size(); ++i) {
        Matrix sum{asked.sizes[i].first, asked.sizes[i].second};
        for (const auto& group : groups)
          if (std::ranges::count(group, static_cast<int>(rank)) > 0)
            for (const int member : group) sum = plus(sum, summand(asked, i, member));
        if (!is_right(
                fmt::format("{}, rank {}, gradient {}", asked.question.about, rank, i), sum,
                played.replies[rank].at(i), dtype,
                {{times(sum, 1.0 / played.places[rank].n), "averages_instead_of_sums",
                  "the gradients are averaged; they are summands, because each rank has seen other tokens "
                  "of the same batch; fix: ReduceOp::sum"}}))
          return false;
      }
    return !played.replies.empty();
  };
  const Asked asked = ask(random.between(3, 4));
  const auto played = play(asked.question);
  if (!is_summed(asked, played)) return;
  std::uint64_t bytes = 0;
  for (const auto& [rows, columns] : asked.sizes)
    bytes += static_cast<std::uint64_t>(rows * columns) * (dtype == "f32" ? 4 : 8);
  if (!traffic_is_right(asked.question.about, played, {{all_reduce, {1, bytes}}}) || !is_second) return;
  expect_the_same(played, asked.question, ask(2).question);
}

}  // namespace lab19
