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

Json pair_task(judge::Random& random, const PairRun& run, const std::string& phase) {
  return {{"call", run.call},
          {"phase", phase},
          {"seed", random.between(0, 9999)},
          {"dtype", run.dtype},
          {"sizes", sizes_json(run.sizes)},
          {"sequence", run.is_sequence}};
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
OneRank on_one_rank(const TwoLayers& pair, const Sizes& sizes, std::int64_t heads, int seed) {
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

struct Answer {
  const OneRank &whole, &own;  // of the whole pair, and of the pair of this rank's parts
  const Layer& second;         // whole
  Place place;
  Part tokens;                         // this rank's
  const TwoLayers &computed, &before;  // this rank's gradients: what backward adds, and to what
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
  return {{own(answer.own.of_x), "forgets_the_backward_all_reduce",
           "the gradient of x is what this rank's columns contribute; fix: sum it over the ranks"},
          {own(times(answer.whole.of_x, 1.0 / answer.place.n)), "averages_instead_of_sums",
           "the gradient of x is divided by the number of ranks; fix: ReduceOp::sum"},
          {own(times(answer.whole.of_x, answer.place.n)), "sums_what_is_whole",
           "the gradient of x is n times too large: something that every rank has whole was summed; fix: sum "
           "summands only"}};
}

bool pair_is_right(const std::string& about, const PairRun& run, const Answer& answer, const Json& reply) {
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
  return is_right(about + ", y", own(answer.whole.y), reply.at("y"), run.dtype, wrong_outputs(answer)) &&
         is_right(about + ", the gradient of x", own(answer.whole.of_x), reply.at("of_x"), run.dtype,
                  wrong_input_gradients(answer)) &&
         gradients_are_right(about + ", first", plus(before.first, computed.first), reply.at("first"),
                             run.dtype, first) &&
         gradients_are_right(about + ", second", plus(before.second, computed.second), reply.at("second"),
                             run.dtype, second);
}

Json heads_task(judge::Random& random, const PairRun& run) {
  return {{"call", "cut"},      {"kind", "heads"}, {"seed", random.between(0, 9999)},
          {"dtype", run.dtype}, {"layers", 1},     {"sizes", sizes_json(run.sizes)}};
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

void expect_pair(judge::Random& random, const PairRun& run) {
  const Json task = pair_task(random, run, "both");
  const int seed = task.at("seed");
  const auto played = play(task, run.groups, text_of(run));
  const TwoLayers whole = right_pair(seed, run.sizes), before = gradients_before(seed, whole);
  const OneRank one = on_one_rank(whole, run.sizes, run.sizes.heads, seed);
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const std::int64_t heads = right_part(run.sizes.heads, place.rank, place.n).count;
    const OneRank own =
        on_one_rank(part_of_pair(whole, run.sizes, place.rank, place.n), run.sizes, heads, seed);
    const std::int64_t tokens = run.is_sequence ? run.sizes.t / place.n : run.sizes.t;
    const TwoLayers computed = part_of_pair(one.gradients, run.sizes, place.rank, place.n),
                    own_before = part_of_pair(before, run.sizes, place.rank, place.n);
    const Answer answer{
        one,      own,       whole.second, place, {run.is_sequence ? place.rank * tokens : 0, tokens},
        computed, own_before};
    const auto about = fmt::format("{}, group rank {} of {} (rank {} of the job)", text_of(run), place.rank,
                                   place.n, place.job_rank);
    if (!pair_is_right(about, run, answer, played.replies[i])) return;
  }
}

void expect_pair_traffic(judge::Random& random, const PairRun& run) {
  for (const std::string phase : {"forward", "backward"}) {
    const auto about = fmt::format("{} of {}", phase, text_of(run));
    const auto played = play(pair_task(random, run, phase), run.groups, about);
    const std::uint64_t bytes = 8 * static_cast<std::uint64_t>(run.sizes.t * run.sizes.width);
    TrafficByName right;
    if (run.is_sequence) {
      const std::uint64_t gathers = phase == "forward" ? 1 : 2;
      right[all_gather] = {gathers, gathers * bytes};
      right[reduce_scatter] = {1, bytes};
    } else {
      right[all_reduce] = {1, bytes};
    }
    if (!traffic_is_right(about, played, right)) return;
  }
}

void expect_heads(judge::Random& random, const PairRun& run) {
  const Json task = heads_task(random, run);
  const auto played = play(task, run.groups, text_of(run));
  if (!traffic_is_right("cut_heads", played, {})) return;
  const TwoLayers whole = right_pair(task.at("seed"), run.sizes),
                  before = gradients_before(task.at("seed"), whole);
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
  Json task = pair_task(random, {"keep", sizes, {}, "f64", true}, "forward");
  task["pairs"] = pairs;
  const auto about = fmt::format("{} pairs forward, {} tokens on {} ranks", pairs, sizes.t, n);
  const auto played = play(task, one_group(n), about);
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

void expect_hidden_tokens(judge::Random& random, int n) {
  const Sizes sizes{24 * n, 64, 4 * n};
  const double nothing = seconds_of(n, "", sizes.t, sizes.width),
               gather = seconds_of(n, all_gather, sizes.t, sizes.width),
               scatter = seconds_of(n, reduce_scatter, sizes.t, sizes.width);
  const double of_input = 0.4 * gather, of_weights = 1.25 * std::max(gather, scatter), between = 0.2 * gather;
  const double perfect = nothing + gather + 2 * of_input + 2 * of_weights + between;
  const PairRun run{"pair", sizes, one_group(n), "f64", true};
  Json task = pair_task(random, run, "backward");
  task["seconds"] = {
      {"multiply", 0}, {"input_gradient", of_input}, {"add_gradients", of_weights}, {"middle", between}};
  const auto about = fmt::format("sequence_backward on {} ranks", n);
  const auto played = play(task, run.groups, about, true);
  if (played.replies.empty()) return;
  for (int rank = 0; rank < n; ++rank)
    if (!judge::has_computed(played.done, rank, 2 * (of_input + of_weights) + between)) return;
  const double took = played.done.report.virtual_time_s;
  if (took * 0.96 <= perfect) return;
  misconception(
      "waits_where_it_could_compute",
      "a collective is exposed although there is something to compute; fix: start the gather of x before "
      "the second layer's backward, and the reduce-scatter before the first layer's add_gradients()");
  ADD_FAILURE() << fmt::format(
      "{}: input_gradient() takes {}, add_gradients() {}, the middle {}; a gather {}, a reduce-scatter {}: "
      "{} is "
      "possible, and {} is allowed; it took {}",
      about, in_us(of_input), in_us(of_weights), in_us(between), in_us(gather), in_us(scatter),
      in_us(perfect), in_us(perfect / 0.96), in_us(took));
}

void expect_summed_gradients(judge::Random& random, const Groups& groups, const std::string& dtype) {
  // Every rank of the job has the same task. A rank's summands are group rank + 1 times these.
  std::vector<Matrix> gradients;
  Json list = Json::array();
  std::uint64_t bytes = 0;
  for (int i = random.between(3, 4); i > 0; --i) {
    gradients.push_back(numbers(random.between(0, 9999), table, random.between(1, 3), random.between(1, 9)));
    list.push_back({gradients.back().rows, gradients.back().columns, gradients.back().at});
    bytes += gradients.back().at.size() * (dtype == "f32" ? 4 : 8);
  }
  const auto about = fmt::format("sum_gradients of {} gradients", gradients.size());
  const auto played =
      play({{"call", "sum"}, {"seed", 0}, {"dtype", dtype}, {"gradients", list}}, groups, about);
  for (std::size_t rank = 0; rank < played.replies.size(); ++rank)
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (!is_right(fmt::format("{}, rank {}, gradient {}", about, rank, i),
                    times(gradients[i], played.places[rank].n * (played.places[rank].n + 1) / 2.0),
                    played.replies[rank].at(i), dtype,
                    {{times(gradients[i], (played.places[rank].n + 1) / 2.0), "averages_instead_of_sums",
                      "the gradients are averaged; they are summands, because each rank has seen other "
                      "tokens of the "
                      "same batch; fix: ReduceOp::sum"}}))
        return;
  traffic_is_right(about, played, {{all_reduce, {1, bytes}}});
}

}  // namespace lab19
