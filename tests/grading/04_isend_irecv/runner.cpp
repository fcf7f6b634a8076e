// The process of one rank in the grading of lab 04: a rank of the grader's simulation that calls the graded
// functions as the task says, and reports what is in the tensors afterwards.
#include "judge/runner.h"

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "isend_irecv.h"

namespace {

using dist::DType, dist::Tensor, judge::Json;

constexpr double unwritten = -1;  // what a result tensor holds before the call

// All elements of a small tensor; the first and the last of a large one.
Json told(const Tensor& t) {
  auto values = t.to_vector<double>();
  if (values.size() > 64) values = {values.front(), values.back()};
  return values;
}

Tensor as_f64(const Json& values) {
  const std::vector<double> numbers = values;
  return dist::tensor(std::span<const double>(numbers));
}

// "values" describes a small tensor; "count" copies of "value" a large one.
Tensor asked(const Json& task) {
  if (task.contains("values")) return as_f64(task.at("values"));
  return dist::full({task.at("count").get<std::int64_t>()}, task.at("value"), DType::f64);
}

Json swap_with(const Json& task) {
  const auto mine = asked(task);
  auto theirs = dist::full(mine.shape(), unwritten, DType::f64);
  lab::swap_with(mine, theirs, task.at("partner"));
  return {{"mine", told(mine)}, {"theirs", told(theirs)}};
}

Json overlap(const Json& task) {
  const auto mine = asked(task);
  auto theirs = dist::full(mine.shape(), unwritten, DType::f64);
  const double seconds = task.at("seconds");
  int calls = 0;
  lab::overlap(mine, theirs, task.at("partner"), [&] {
    ++calls;
    dist::sim::compute(seconds);
  });
  return {{"mine", told(mine)}, {"theirs", told(theirs)}, {"calls", calls}};
}

// One number per row; the columns of a row differ.
Tensor field_of(const Json& task) {
  const std::vector<double> values = task.at("values");
  auto field = dist::empty({std::ssize(values), task.at("columns")}, DType::f64);
  for (std::int64_t row = 0; row < field.size(0); ++row) {
    auto its = field[row];
    for (std::size_t column = 0; column < its.data<double>().size(); ++column)
      its.data<double>()[column] = values[static_cast<std::size_t>(row)] + static_cast<double>(column % 5);
  }
  return field;
}

// The first and the last element of each row.
Json ends_of_rows(const Tensor& field) {
  Json ends = Json::array();
  for (std::int64_t row = 0; row < field.size(0); ++row) {
    const Tensor its = field[row];
    ends.push_back({its.data<double>().front(), its.data<double>().back()});
  }
  return ends;
}

void expect_shape(const Tensor& field, const dist::Shape& shape) {
  if (!field.is_defined() || field.shape() != shape) throw std::runtime_error("field has lost its shape");
}

Json ghosts(const Json& task) {
  auto field = field_of(task);
  const auto shape = field.shape();
  lab::exchange_ghosts(field);
  expect_shape(field, shape);
  return ends_of_rows(field);
}

// Integer arithmetic, so that the result is exact. The grader knows the same rule.
void next_row(const Tensor& above, const Tensor& row, const Tensor& below, Tensor& next) {
  if (next.dtype() != row.dtype())
    throw std::runtime_error(fmt::format(
        "relax: the field is {}, the tensor for the next rows is {}; fix: clone the field, or pass its dtype",
        name(row.dtype()), name(next.dtype())));
  const auto a = above.data<double>(), r = row.data<double>(), b = below.data<double>();
  const auto n = next.data<double>();
  for (std::size_t i = 0; i < n.size(); ++i)
    n[i] = static_cast<double>(static_cast<long>(a[i] + 2 * r[i] + 3 * b[i]) % 97);
}

Json relax(const Json& task) {
  auto field = field_of(task);
  const auto shape = field.shape();
  const double seconds = task.at("seconds");
  int calls = 0;
  lab::relax(field, task.at("steps"),
             [&](const Tensor& above, const Tensor& row, const Tensor& below, Tensor& next) {
               ++calls;
               next_row(above, row, below, next);
               dist::sim::compute(seconds);
             });
  expect_shape(field, shape);
  return {{"field", ends_of_rows(field)}, {"calls", calls}};
}

// Rank 0 produces, rank 1 consumes. Block i is filled with "first" + i.
Json stream(const Json& task) {
  const std::int64_t count = task.at("count");
  const double first = task.at("first"), seconds = task.at("seconds");
  const int blocks = task.at("blocks");
  lab::Buffers buffers{dist::full({count}, unwritten, DType::f64),
                       dist::full({count}, unwritten, DType::f64)};
  // Which buffer the block is in: 0, 1, or -1 for another tensor.
  const auto place_of = [ours = std::array{buffers[0].raw(), buffers[1].raw()}](const Tensor& block) {
    return block.raw() == ours[0] ? 0 : block.raw() == ours[1] ? 1 : -1;
  };
  Json order = Json::array(), seen = Json::array(), places = Json::array();
  if (dist::get_rank() == 0) {
    lab::stream_to(1, buffers, blocks, [&](int i, Tensor& block) {
      order.push_back(i);
      places.push_back(place_of(block));
      block.fill_(first + i);
      dist::sim::compute(seconds);
    });
  } else {
    lab::stream_from(0, buffers, blocks, [&](int i, const Tensor& block) {
      order.push_back(i);
      places.push_back(place_of(block));
      dist::sim::compute(seconds);
      seen.push_back(told(block));
    });
  }
  return {{"order", order}, {"seen", seen}, {"places", places}};
}

// "rounds": the tasks of several calls, one after another, each some time after the one before.
Json in_a_row(const Json& task) {
  Json replies = Json::array();
  for (const Json& round : task.at("rounds")) {
    dist::sim::compute(round.at("delay"));
    replies.push_back(round.at("call") == "overlap" ? overlap(round) : swap_with(round));
  }
  return replies;
}

Json handle(const Json& task) {
  const std::string call = task.at("call");
  dist::init_process_group();
  if (call == "in_a_row") return in_a_row(task);
  if (call == "swap_with") return swap_with(task);
  if (call == "overlap") return overlap(task);
  if (call == "exchange_ghosts") return ghosts(task);
  if (call == "relax") return relax(task);
  if (call == "stream") return stream(task);
  throw std::logic_error("no such call: " + call);
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
