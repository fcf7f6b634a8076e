// Lab 18, part 1: rows, and a step of ZeRO-1.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab18 {
namespace {

using judge::misconception;

struct RowsIdea {
  const char *name, *in_words;
  std::pair<std::int64_t, std::int64_t> (*rows)(std::int64_t rows, std::int64_t rank, std::int64_t n);
};

const std::vector<RowsIdea>& rows_ideas() {
  static const std::vector<RowsIdea> known{
      {"loses_the_last_rows",
       "every rank has floor(rows / n) rows, so the last rows of the parameter belong to no rank and are "
       "never trained; fix: round up",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         const auto count = rows / n;
         return std::pair(rank * count, (rank + 1) * count);
       }},
      {"balanced_rows",
       "the rows are balanced, as distlab's chunk() and MPI programs do it; fix: give every rank ceil(rows / "
       "n) rows until there are none left, as torch.chunk does",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         return std::pair(rank * rows / n, (rank + 1) * rows / n);
       }},
      {"balanced_rows",
       "the rows are balanced: the first ranks have one more; fix: give every rank ceil(rows / n) rows until "
       "there are none left, as torch.chunk does",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         const auto first = rank * (rows / n) + std::min(rank, rows % n);
         return std::pair(first, first + rows / n + (rank < rows % n ? 1 : 0));
       }},
      {"more_rows_than_there_are",
       "a rank near the end is given rows that do not exist; fix: stop at the number of rows",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         const auto most = (rows + n - 1) / n;
         return std::pair(rank * most, (rank + 1) * most);
       }},
      {"begins_after_the_end",
       "a rank without rows begins after the last row; fix: first is at most the number of rows",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         const auto most = (rows + n - 1) / n, first = rank * most;
         return std::pair(first, first + std::clamp<std::int64_t>(rows - first, 0, most));
       }},
      {"begins_after_the_end",
       "a rank without rows begins after the last row, and has fewer than 0; fix: first is at most the "
       "number "
       "of rows",
       [](std::int64_t rows, std::int64_t rank, std::int64_t n) {
         const auto most = (rows + n - 1) / n, first = rank * most;
         return std::pair(first, first + std::min(rows - first, most));
       }}};
  return known;
}

// What the ranks are given: one parameter, and a gradient per step and rank.
struct Steps {
  Shape shape;
  Numbers parameter;
  std::vector<std::vector<Numbers>> gradients;  // [step][rank]
  std::vector<Json> tasks;
};

Steps draw_steps(judge::Random& random, int n, const Shape& shape, bool with_others) {
  Steps drawn{shape, draw_numbers(random, elements_of(shape)), {}, {}};
  for (int step = 0; step < 2; ++step) {
    drawn.gradients.emplace_back();
    for (int rank = 0; rank < n; ++rank)
      drawn.gradients.back().push_back(draw_numbers(random, elements_of(shape)));
  }
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(n); ++rank) {
    drawn.tasks.push_back(
        {{"call", "zero_step"}, {"shape", shape}, {"parameter", drawn.parameter}, {"others", with_others}});
    for (const auto& step : drawn.gradients) drawn.tasks.back()["gradients"].push_back(step[rank]);
  }
  return drawn;
}

// The parameter after all steps, with gradients that are the sum over the ranks divided by `divisor`.
Numbers stepped(const Steps& drawn, double divisor) {
  Numbers parameter = drawn.parameter, velocity(parameter.size(), 0);
  for (const auto& step : drawn.gradients) {
    for (std::size_t i = 0; i < parameter.size(); ++i) {
      double sum = 0;
      for (const Numbers& of_rank : step) sum += of_rank[i];
      velocity[i] = velocity[i] / 2 + sum / divisor;
      parameter[i] -= velocity[i];
    }
  }
  return parameter;
}

// Right in the rank's own rows only: the others' updates never came.
bool has_own_rows_only(const Steps& drawn, const Numbers& got, std::int64_t rank, std::int64_t n) {
  const Numbers right = stepped(drawn, static_cast<double>(n));
  const auto width = elements_of(drawn.shape) / drawn.shape[0];
  const auto [first, last] = right_rows(drawn.shape[0], rank, n);
  for (std::int64_t i = 0; i < elements_of(drawn.shape); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_own = i >= first * width && i < last * width;
    if (!are_near({is_own ? right[at] : drawn.parameter[at]}, {got.at(at)})) return false;
  }
  return true;
}

void diagnose_step(const Steps& drawn, const Numbers& got, int rank, int n) {
  if (got.size() != drawn.parameter.size()) return;
  if (are_near(stepped(drawn, n * n), got)) {
    misconception(
        "divides_twice",
        "the gradients are divided by n twice, so the step is n times too small; fix: do not divide "
        "after ReduceOp::avg");
  } else if (are_near(stepped(drawn, 1), got)) {
    misconception("sums_without_averaging",
                  "the rows are updated with the sum of the gradients, not with their mean; fix: "
                  "ReduceOp::avg");
  } else if (has_own_rows_only(drawn, got, rank, n)) {
    misconception("forgets_to_gather",
                  "only the rank's own rows are updated, so the ranks' parameters differ from now on; fix: "
                  "gather the updated rows of all ranks");
  }
}

bool steps_are_right(const Steps& drawn, const std::vector<Json>& replies) {
  const int n = static_cast<int>(replies.size());
  for (int rank = 0; rank < n; ++rank) {
    const Json& reply = replies[static_cast<std::size_t>(rank)];
    const Numbers got = reply.at("parameter"), right = stepped(drawn, n);
    const bool is_kept = reply.at("is_kept"), other_is_kept = reply.at("other_is_kept");
    if (!other_is_kept) {
      ADD_FAILURE() << fmt::format(
          "zero_step, {} ranks: on rank {} another parameter, of 3 x 2 x 2, whose gradients are 0 and whose "
          "update does nothing, has changed",
          n, rank);
      return false;
    }
    const Numbers of_layer = reply.at("of_layer");
    if (are_near(right, got) && !are_near(right, of_layer)) {
      misconception(
          "the_parameter_is_another_tensor",
          "`parameter` is another tensor now, and the layer that shares the old one's memory still has "
          "the old values; fix: copy the rows into the parameter's memory (copy_)");
      ADD_FAILURE() << fmt::format(
          "zero_step, {} ranks: on rank {} a tensor that shares the parameter's memory: {}", n, rank,
          difference(right, of_layer));
      return false;
    }
    if (are_near(right, got) && is_kept && reply.at("shape") == Json(drawn.shape)) continue;
    diagnose_step(drawn, got, rank, n);
    ADD_FAILURE() << fmt::format("zero_step, a parameter of {}, {} ranks, two steps: on rank {} {}",
                                 fmt::join(drawn.shape, " x "), n, rank,
                                 is_kept ? difference(right, got) : "the gradient was changed");
    return false;
  }
  return !replies.empty();
}

void expect_own_rows(const Steps& drawn, const std::vector<Json>& replies) {
  const auto n = static_cast<std::int64_t>(replies.size());
  for (std::int64_t rank = 0; rank < n; ++rank) {
    const auto [first, last] = right_rows(drawn.shape[0], rank, n);
    Shape shape = drawn.shape;
    shape[0] = last - first;
    Json right = Json::array();
    const Json update{{"rows", shape}, {"gradient", shape}};
    if (last > first) right = {update, update};
    const Json& got = replies[static_cast<std::size_t>(rank)].at("updates");
    if (got == right && replies[static_cast<std::size_t>(rank)].at("are_views")) continue;
    if (got == right) {
      misconception(
          "update_gets_a_copy",
          "update was given a copy of the rows, and an optimizer that knows its state by their memory "
          "finds none; fix: parameter.narrow(first, count)");
      ADD_FAILURE() << fmt::format(
          "zero_step, {} ranks: on rank {} update must be given a view of the parameter's "
          "rows; they are in other memory",
          n, rank);
      return;
    }
    if (!got.empty() && got[0].at("rows") == Json(drawn.shape))
      misconception(
          "updates_all_rows",
          "the rank updates the whole parameter, so it needs the optimizer's state of all rows, and "
          "ZeRO saves nothing; fix: update your own rows, and gather what the other ranks updated");
    ADD_FAILURE() << fmt::format(
        "zero_step, a parameter of {}, {} ranks, two steps: rank {} must call update with {}; it called it "
        "with {}",
        fmt::join(drawn.shape, " x "), n, rank, right.dump(), got.dump());
    return;
  }
}

}  // namespace

void expect_rows(const std::vector<std::vector<std::int64_t>>& cases) {
  const auto replies = answers(run({{{"call", "rows_of"}, {"cases", cases}}}));
  if (replies.empty()) return;
  const auto fits = [&](const RowsIdea& idea) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto [first, last] = idea.rows(cases[i][0], cases[i][1], cases[i][2]);
      if (replies[0].at(i) != Json{first, last - first}) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [first, last] = right_rows(cases[i][0], cases[i][1], cases[i][2]);
    const Json right{first, last - first};
    if (replies[0].at(i) == right) continue;
    for (const RowsIdea& idea : rows_ideas())
      if (fits(idea)) misconception(idea.name, idea.in_words);
    if (cases[i][0] > std::numeric_limits<std::int32_t>::max())  // the smaller numbers came before
      misconception(
          "rows_in_32_bits",
          "all is right as long as the number of rows fits into an int; fix: compute in std::int64_t");
    ADD_FAILURE() << fmt::format("rows_of({}, {}, {}) must be {{first, count}} = {}; it is {}", cases[i][0],
                                 cases[i][1], cases[i][2], right.dump(), replies[0].at(i).dump());
    return;
  }
}

void expect_zero_step(judge::Random& random, int n, const Shape& shape, Look look) {
  const auto drawn = draw_steps(random, n, shape, look == Look::values);
  const auto done = run(drawn.tasks);
  const auto replies = answers(done);
  if (!steps_are_right(drawn, replies)) return;
  if (look == Look::rows) expect_own_rows(drawn, replies);
  if (look != Look::traffic) return;
  const std::uint64_t bytes = 2 * 8 * static_cast<std::uint64_t>(padded_elements({shape}, n));
  for (int rank = 0; rank < n; ++rank) {
    for (const char* name : {reduce_scatter, all_gather}) {
      const Traffic got = traffic_of(done, rank, name);
      if (got.calls == 2 && got.bytes == bytes) continue;
      if (got.calls == 2 && got.bytes > bytes)
        misconception(
            "sends_more_than_its_rows",
            "a collective carries more than the padded parameter; fix: reduce-scatter the gradients "
            "only, and gather the updated rows only");
      ADD_FAILURE() << fmt::format(
          "zero_step, a parameter of {}, two steps: rank {} of {} must call {} 2 times, with {} bytes of all "
          "ranks in all; it called it {} times, with {} bytes",
          fmt::join(shape, " x "), rank, n, name, bytes, got.calls, got.bytes);
      return;
    }
  }
}

}  // namespace lab18
