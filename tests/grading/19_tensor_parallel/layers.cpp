// Lab 19, part 1: a column-parallel and a row-parallel layer.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab19 {
namespace {

using judge::misconception;

std::string text_of(const std::string& kind, const LayerSizes& sizes, const Place& place) {
  return fmt::format(
      "{}-parallel layer, {} outputs, {} inputs, {} tokens, group rank {} of {} (rank {} of the job)", kind,
      sizes.outputs, sizes.inputs, sizes.t, place.rank, place.n, place.job_rank);
}

Layer part_of(const Layer& whole, bool is_row, Part part) {
  return is_row ? whole.row_part(part) : whole.column_part(part);
}

std::vector<Wrong> wrong_cuts(const Layer& whole, bool is_row, const Place& place, bool is_bias) {
  const std::int64_t size = is_row ? whole.weight.columns : whole.weight.rows;
  const Layer right = part_of(whole, is_row, right_part(size, place.rank, place.n));
  std::vector<Wrong> all{shares_memory(is_bias ? right.bias : right.weight)};
  const auto add = [&](const Layer& layer, const char* name, const char* in_words) {
    all.push_back({is_bias ? layer.bias : layer.weight, name, in_words});
  };
  if (is_bias) {
    if (is_row)
      all.push_back({whole.bias.columns_of(right_part(whole.bias.columns, place.rank, place.n)),
                     "cuts_the_row_bias",
                     "the bias of a row-parallel layer is divided; but its entries belong to outputs, and "
                     "every rank has a summand of all outputs; fix: copy the whole bias"});
    return all;
  }
  add(part_of(whole, !is_row,
              right_part(is_row ? whole.weight.rows : whole.weight.columns, place.rank, place.n)),
      "cuts_the_other_axis",
      "the weight is cut along the other axis; it is stored as {outputs, inputs}, so the outputs that a "
      "column-parallel layer divides are its rows; fix: copy_of_rows for column, copy_of_columns for row");
  const std::int64_t floor = size / place.n;
  add(part_of(whole, is_row, {std::min(place.rank * floor, size), floor}), "loses_the_last_entries",
      "every rank has size / n entries, rounded down, and the last ones belong to no rank; fix: own_part()");
  return all;
}

// The gradient of x that one rank computes by itself.
Matrix own_summand(const Layer& own, const Matrix& grad) { return grad * own.weight; }

struct Backward {
  Layer whole, before;  // `before`: the gradients, which the backward adds to
  Matrix x, grad;
};
Backward draw_backward(judge::Random& random, const LayerSizes& sizes) {
  const Seed seed = draw_seed(random);
  const Layer whole = right_layer(seed, true, sizes.outputs, sizes.inputs);
  return {whole, gradients_before(seed, true, whole), numbers(seed, input, sizes.t, sizes.inputs),
          numbers(seed, output_gradient, sizes.t, sizes.outputs)};
}

struct LayerQuestion {
  Backward asked;
  Question question;
};
LayerQuestion ask_layer(judge::Random& random, const std::string& kind, const std::string& phase,
                        const LayerSizes& sizes, const Groups& groups, const std::string& dtype,
                        const std::string& about) {
  const bool is_row = kind == "row";
  const Backward asked = draw_backward(random, sizes);
  const auto own = [asked, is_row](const Place& place) {
    const auto& [whole, before, x, grad] = asked;
    const Part part = right_part(is_row ? whole.weight.columns : whole.weight.rows, place.rank, place.n);
    return Json{{"first", as_json(part_of(whole, is_row, part))},
                {"first_before", as_json(part_of(before, is_row, part))},
                {"x", as_json(is_row ? x.columns_of(part) : x)},
                {"grad", as_json(is_row ? grad : grad.columns_of(part))}};
  };
  const Json task{{"call", kind}, {"phase", phase}, {"dtype", dtype}, {"sizes", {sizes.t, 1, 1, 1, false}}};
  return {asked, {task, groups, own, about, is_row == (phase == "backward")}};
}

// A whole layer, which every rank is given.
struct CutQuestion {
  Layer whole, before;
  Question question;
};
CutQuestion ask_cut(judge::Random& random, const std::string& kind, const LayerSizes& sizes,
                    const Groups& groups, const std::string& dtype, std::int64_t layers,
                    const std::string& about) {
  const auto [whole, before, x, grad] = draw_backward(random, sizes);
  const Json task{{"call", "cut"},           {"kind", kind},
                  {"dtype", dtype},          {"layers", layers},
                  {"first", as_json(whole)}, {"first_before", as_json(before)}};
  return {whole, before, {task, groups, [](const Place&) { return Json::object(); }, about, true}};
}

bool forward_is_right(const std::string& about, bool is_row, const Layer& whole, const Matrix& x,
                      const Place& place, const Json& reply, const std::string& dtype) {
  const Matrix y = whole.forward(x);
  const Part part = right_part(is_row ? whole.weight.columns : whole.weight.rows, place.rank, place.n);
  if (!is_row) return is_right(about + ", y", y.columns_of(part), reply.at("y"), dtype);
  const Layer own = whole.row_part(part);
  const Matrix without = x.columns_of(part) * own.weight.transposed();
  return is_right(
      about + ", y", y, reply.at("y"), dtype,
      {{plus(y, whole.bias, place.n - 1), "adds_the_bias_n_times",
        "the bias is in y once per rank: every rank adds it to its summand, and the sum has it n times; fix: "
        "one "
        "rank of the group adds it"},
       {plus(y, whole.bias, -1), "no_rank_adds_the_bias",
        "the bias is missing in y; fix: rank 0 of the group, context.group.rank() == 0, gives it to "
        "multiply() "
        "(dist::get_rank() is the rank in the job)"},
       {times(y, 1.0 / place.n), "averages_instead_of_sums",
        "y is divided by the number of ranks; the ranks have summands of one y; fix: ReduceOp::sum"},
       {without, "forgets_the_forward_all_reduce",
        "y is this rank's summand only; fix: all_reduce after the multiplication"},
       {plus(without, whole.bias), "forgets_the_forward_all_reduce",
        "y is this rank's summand only; fix: all_reduce after the multiplication"}});
}

std::vector<Wrong> wrong_input_gradients(bool is_row, const Layer& own, const Matrix& right,
                                         const Matrix& own_grad, const Matrix& summed, const Place& place) {
  if (is_row)
    return {{times(right, place.n), "sums_what_is_whole",
             "the gradient is n times too large: every rank has the whole gradient of y, and an all_reduce "
             "adds n copies of it; fix: no collective in backward of a row-parallel layer"},
            {summed, "communicates_where_nothing_is_needed",
             "the gradients of different columns of x are added up; fix: no collective in backward of a "
             "row-parallel layer"}};
  return {{own_summand(own, own_grad), "forgets_the_backward_all_reduce",
           "the gradient of x is what this rank's columns contribute; the other ranks' columns depend on x, "
           "too; fix: all_reduce of the input gradient"},
          {times(right, 1.0 / place.n), "averages_instead_of_sums",
           "the gradient of x is divided by the number of ranks; that is right for ranks with different "
           "samples, but these have summands of one gradient; fix: ReduceOp::sum"}};
}

bool backward_is_right(const std::string& about, bool is_row, const Backward& asked, const Place& place,
                       const Json& reply, const std::string& dtype) {
  const auto& [whole, before, x, grad] = asked;
  const Part part = right_part(is_row ? whole.weight.columns : whole.weight.rows, place.rank, place.n);
  const Layer own = part_of(whole, is_row, part);
  const Matrix own_x = is_row ? x.columns_of(part) : x, own_grad = is_row ? grad : grad.columns_of(part);
  const Matrix of_x = is_row ? own_grad * own.weight : grad * whole.weight;
  Matrix of_all{of_x.rows, of_x.columns};  // if all ranks have equally many columns
  for (int rank = 0; is_row && rank < place.n; ++rank) {
    const Part other = right_part(whole.weight.columns, rank, place.n);
    if (other.count == part.count) of_all = plus(of_all, grad * whole.row_part(other).weight);
  }
  if (!is_right(about + ", the gradient of x", of_x, reply.at("of_x"), dtype,
                wrong_input_gradients(is_row, own, of_x, own_grad, of_all, place)))
    return false;
  const Layer computed{own_grad.transposed() * own_x, own_grad.sum_of_rows()};
  Matrix summed{computed.weight.rows, computed.weight.columns};
  for (int rank = 0; rank < place.n; ++rank) {
    const Part other = right_part(is_row ? whole.weight.columns : whole.weight.rows, rank, place.n);
    if (other.count != part.count) continue;
    summed = plus(summed,
                  is_row ? grad.transposed() * x.columns_of(other) : grad.columns_of(other).transposed() * x);
    summed = plus(summed, part_of(before, is_row, other).weight);
  }
  return gradients_are_right(
      about, plus(part_of(before, is_row, part), computed), reply.at("first"), dtype,
      {overwrites_the_gradients(computed),
       {summed, "sums_the_weight_gradients",
        "the gradients of the weights are summed over the ranks; but each rank has other "
        "weights, and has their whole gradients already; fix: no collective for them"}});
}

}  // namespace

void expect_cut(judge::Random& random, const std::string& kind, const LayerSizes& sizes, const Groups& groups,
                const std::string& dtype) {
  const bool is_row = kind == "row";
  const auto [whole, before, question] =
      ask_cut(random, kind, sizes, groups, dtype, 1, fmt::format("cut_{}", kind));
  const auto played = play(question);
  if (!traffic_is_right(question.about, played, {})) return;
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const Json got = played.replies[i].at(0);
    const std::string about = text_of(kind, sizes, place);
    const Part part = right_part(is_row ? sizes.inputs : sizes.outputs, place.rank, place.n);
    const Layer right = part_of(whole, is_row, part);
    if (!is_right(about + ", weight", right.weight, got.at(0), dtype,
                  wrong_cuts(whole, is_row, place, false)) ||
        !is_right(about + ", bias", right.bias, got.at(1), dtype, wrong_cuts(whole, is_row, place, true),
                  Form::vector) ||
        !gradients_are_right(
            about, {{right.weight.rows, right.weight.columns}, {right.bias.rows, right.bias.columns}}, got,
            dtype, {cuts_the_gradients(part_of(before, is_row, part))}))
      return;
  }
}

void expect_only_parts_are_kept(judge::Random& random, const std::string& kind, int n) {
  constexpr std::int64_t size = 48, layers = 8;
  const auto about = fmt::format("cut_{} of {} layers, {} x {}, on {} ranks", kind, layers, size, size, n);
  const auto played =
      play(ask_cut(random, kind, {1, size, size}, one_group(n), "f64", layers, about).question);
  // The parts and their gradients, one layer that is whole (with its gradients), and half of one for
  // everything small.
  constexpr double whole = 8.0 * size * (size + 1);
  const double parts = 8.0 * 2 * static_cast<double>(layers) * (1.0 * size * size / n + size);
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const auto peak = static_cast<double>(played.done.report.peak_buffer_bytes[i]);
    if (peak <= parts + 2.5 * whole) continue;
    misconception("keeps_the_whole_weight",
                  "the whole weights are still in memory: a view (narrow) shares the memory of the whole "
                  "tensor, and keeps it; fix: copy the part");
    ADD_FAILURE() << fmt::format("{}: rank {} may hold {:.0f} bytes at the same time; it held {:.0f}", about,
                                 i, parts + 2.5 * whole, peak);
    return;
  }
}

namespace {

bool layer_is_right(const LayerQuestion& asked, const Played& played) {
  const Json& task = asked.question.task;
  const bool is_row = task.at("call") == "row";
  const auto& [whole, before, x, grad] = asked.asked;
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const std::string about =
        fmt::format("{}, {}", task.at("phase").get<std::string>(),
                    text_of(task.at("call"), {x.rows, whole.weight.rows, whole.weight.columns}, place));
    const bool is_forward = task.at("phase") == "forward";
    if (!(is_forward
              ? forward_is_right(about, is_row, whole, x, place, played.replies[i], task.at("dtype"))
              : backward_is_right(about, is_row, asked.asked, place, played.replies[i], task.at("dtype"))))
      return false;
  }
  return !played.replies.empty();
}

TrafficByName right_traffic(const LayerQuestion& asked) {
  const Json& task = asked.question.task;
  const bool is_row = task.at("call") == "row";
  if (is_row != (task.at("phase") == "forward")) return {};
  const auto& weight = asked.asked.whole.weight;
  const auto elements = asked.asked.x.rows * (is_row ? weight.rows : weight.columns);
  return {{all_reduce, {1, 8 * static_cast<std::uint64_t>(elements)}}};
}

}  // namespace

void expect_layer(judge::Random& random, const std::string& kind, const std::string& phase,
                  const LayerSizes& sizes, const Groups& groups, const std::string& dtype, bool is_second) {
  const auto about = fmt::format("{}_{}", kind, phase);
  const auto asked = ask_layer(random, kind, phase, sizes, groups, dtype, about);
  const auto played = play(asked.question);
  if (!layer_is_right(asked, played) || !is_second) return;
  const auto n = static_cast<std::int64_t>(groups[0].size());
  const LayerSizes others{sizes.t + 1, sizes.outputs + n, sizes.inputs + n};
  expect_the_same(
      played, asked.question,
      ask_layer(random, kind, phase, others, groups, dtype == "f64" ? "f32" : "f64", about).question);
}

void expect_layer_traffic(judge::Random& random, const LayerSizes& sizes, int n) {
  for (const std::string kind : {"column", "row"})
    for (const std::string phase : {"forward", "backward"}) {
      const auto about = fmt::format("{}_{}, {} outputs, {} inputs, {} tokens, {} ranks", kind, phase,
                                     sizes.outputs, sizes.inputs, sizes.t, n);
      const auto asked = ask_layer(random, kind, phase, sizes, one_group(n), "f64", about);
      if (!traffic_is_right(about, play(asked.question), right_traffic(asked))) return;
    }
}

void expect_hidden_sum(judge::Random& random, int n) {
  const LayerSizes sizes{64, 24, 96};
  const double nothing = seconds_of(n, "", sizes.t, sizes.inputs),
               sum = seconds_of(n, all_reduce, sizes.t, sizes.inputs);
  const double of_input = 0.5 * sum, of_weights = 1.25 * sum, perfect = nothing + of_input + of_weights;
  const auto about = fmt::format("column_backward on {} ranks", n);
  auto asked = ask_layer(random, "column", "backward", sizes, one_group(n), "f64", about);
  asked.question.task["seconds"] = {
      {"multiply", 0}, {"input_gradient", of_input}, {"add_gradients", of_weights}, {"middle", 0}};
  const auto played = play(asked.question, true);
  if (!layer_is_right(asked, played) || !traffic_is_right(about, played, right_traffic(asked))) return;
  for (int rank = 0; rank < n; ++rank)
    if (!judge::has_computed(played.done, rank, of_input + of_weights)) return;
  const double took = played.done.report.virtual_time_s;
  if (took * 0.96 <= perfect) return;
  misconception(
      "waits_before_the_weight_gradient",
      "the ranks wait for the sum while there is something to compute; no rank waits for the gradient of "
      "the weights; fix: start the all_reduce with .async_op, call add_gradients(), then wait()");
  ADD_FAILURE() << fmt::format(
      "{}: input_gradient() takes {}, add_gradients() {}, the all_reduce {}: {} is possible, and {} is "
      "allowed; it "
      "took {}",
      about, in_us(of_input), in_us(of_weights), in_us(sum), in_us(perfect), in_us(perfect / 0.96),
      in_us(took));
}

}  // namespace lab19
