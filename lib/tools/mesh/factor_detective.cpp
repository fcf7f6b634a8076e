// First what a factor means, and the sentence of one tensor; then compare_gradients(), and compare_norm()
// with the ways in which parts are added up wrongly.
#include "mesh/factor_detective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dist/group/process_group.h"

namespace dist {

namespace {

struct Cause {
  double factor;
  std::string of, too_large, too_small;
};

// What each factor means, the likeliest first: where two axes have the same size, the text names both.
std::vector<Cause> causes_of(const HybridShape& shape, int micro_batches) {
  std::vector<Cause> causes;
  const auto add = [&](int size, const char* of, const char* too_large, const char* too_small) {
    if (size > 1) causes.push_back({static_cast<double>(size), of, too_large, too_small});
  };
  add(shape.tp, "tp", "a partial sum was added on every tensor rank",
      "it was divided among tensor ranks that have equal parts");
  add(shape.dp, "dp", "the sum over data ranks was not divided",
      "it was divided twice, or replicas were never summed");
  add(shape.fsdp, "fsdp", "the reduce-scatter summed and did not average",
      "it was divided twice: the reduce-scatter averages");
  add(shape.cp, "cp", "the sum over context ranks was not divided",
      "it was divided twice, or context ranks were never summed");
  add(shape.data_ranks() != shape.dp && shape.data_ranks() != shape.fsdp ? shape.data_ranks() : 1,
      "dp x fsdp", "the sum over all data ranks was not divided", "it was divided by all data ranks twice");
  add(micro_batches, "the micro-batches", "the loss was not divided by the number of micro-batches",
      "it was divided by the micro-batches twice, or only the last one counted");
  return causes;
}

// Rows [first, last] of a tensor that are 0 on a rank that has them, but not on one rank; last < 0: none.
struct LostRows {
  std::int64_t first = 0, last = -1;
};

std::string sentence_of(const GradientDifference& d, const HybridShape& shape, int micro_batches,
                        double tolerance, const LostRows& lost) {
  if (!std::isfinite(d.ratio)) return fmt::format("gradient of {} is not finite", d.name);
  if (std::abs(d.ratio) < tolerance && d.remainder < tolerance)
    return fmt::format("gradient of {} is 0: it was never computed or never received", d.name);
  if (lost.last >= 0)
    return fmt::format(
        "gradient of {}: {} 0 on the rank that has {}; were the last rows of an uneven shard lost?", d.name,
        lost.first == lost.last ? fmt::format("row {} is", lost.first)
                                : fmt::format("rows {} to {} are", lost.first, lost.last),
        lost.first == lost.last ? "it" : "them");
  if (d.remainder > std::max(1e-3, 10 * tolerance))
    return fmt::format(
        "gradient of {} differs by {:.2g} of its size, by no common factor: some ranks lack a part of the "
        "sum; is it replicated, and never reduced?",
        d.name, std::hypot(d.remainder, d.ratio - 1));
  const bool is_large = d.ratio > 1;
  const double factor = is_large ? d.ratio : 1 / d.ratio;
  std::string why;
  for (const Cause& cause : causes_of(shape, micro_batches))
    if (std::abs(factor / cause.factor - 1) < 1e-3)
      why += fmt::format("{}the size of {} ({})", why.empty() ? "" : ", or ", cause.of,
                         is_large ? cause.too_large : cause.too_small);
  if (why.empty()) why = "no axis of the mesh has that size";
  return fmt::format("gradient of {} is {:.3f} times too {}: {}", d.name, factor,
                     is_large ? "large" : "small", why);
}

// Calls f(number of the tensor, first row, what this rank has, what one rank has) for each piece.
template <class F>
void for_each_pair(const Pieces& got, const nn::StateDict& expected, const F& f) {
  for (const Piece& piece : got) {
    const auto at = std::ranges::find(expected, piece.name, &nn::NamedTensor::name);
    if (at == expected.end()) continue;
    const Tensor part = zeros(piece.data.shape(), at->tensor.dtype());
    (void)copy_common({piece.name, at->tensor, piece.whole, Shape(piece.whole.size(), 0)},
                      {piece.name, part, piece.whole, piece.offset});
    f(static_cast<std::size_t>(at - expected.begin()), piece.offset.empty() ? 0 : piece.offset[0],
      piece.data.to(cpu).to(DType::f64), part.to(DType::f64));
  }
}

std::vector<double> reduced(const std::vector<double>& own, ReduceOp op = ReduceOp::sum) {
  Tensor all = tensor(std::span<const double>(own), cpu);
  all_reduce(all, op);
  return all.to_vector<double>();
}

// The rows that are lost on some rank, of those tensors of which other rows are not.
std::vector<LostRows> lost_rows(const Pieces& got, const nn::StateDict& expected) {
  const std::size_t n = expected.size();
  // Minus the first and the last such row; in the end the first and the last row that is there.
  std::vector<double> own(4 * n, -std::numeric_limits<double>::infinity());
  for_each_pair(got, expected,
                [&](std::size_t i, std::int64_t begin, const Tensor& mine, const Tensor& theirs) {
                  const std::int64_t rows = mine.dim() == 0 ? 0 : mine.size(0);
                  for (std::int64_t row = 0; row < rows; ++row) {
                    const Tensor there = theirs.narrow(row, 1), here = mine.narrow(row, 1);
                    if (sum(there * there) == 0) continue;
                    const bool is_lost = sum(here * here) == 0;
                    const auto at = static_cast<double>(begin + row);
                    double& first = own[4 * i + (is_lost ? 0 : 2)];
                    double& last = own[4 * i + (is_lost ? 1 : 3)];
                    first = std::max(first, -at), last = std::max(last, at);
                  }
                });
  const std::vector<double> all = reduced(own, ReduceOp::max);
  std::vector<LostRows> lost(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double first = -all[4 * i], last = all[4 * i + 1];
    if (!std::isfinite(last) || !std::isfinite(all[4 * i + 3])) continue;
    if (first <= -all[4 * i + 2] && last >= all[4 * i + 3])
      continue;  // a copy, of which another rank has more
    lost[i] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
  }
  return lost;
}

}  // namespace

// The remainder in a pass of its own: as the difference of two sums it would have half as many correct
// digits.
std::vector<GradientDifference> compare_gradients(const Pieces& got, const nn::StateDict& expected,
                                                  const HybridShape& shape, int micro_batches,
                                                  double tolerance) {
  const std::size_t n = expected.size();
  std::vector<double> products(2 * n), squares(n), ratios(n, 1);  // products: got expected, then expected^2
  for_each_pair(got, expected, [&](std::size_t i, std::int64_t, const Tensor& mine, const Tensor& theirs) {
    products[i] += sum(mine * theirs);
    products[n + i] += sum(theirs * theirs);
  });
  products = reduced(products);
  for (std::size_t i = 0; i < n; ++i)
    if (products[n + i] > 0) ratios[i] = products[i] / products[n + i];
  for_each_pair(got, expected, [&](std::size_t i, std::int64_t, const Tensor& mine, const Tensor& theirs) {
    const Tensor rest = mine - theirs * ratios[i];
    squares[i] += sum(rest * rest);
  });
  squares = reduced(squares);
  const std::vector<LostRows> lost = lost_rows(got, expected);
  std::vector<GradientDifference> differences;
  for (std::size_t i = 0; i < n; ++i) {
    GradientDifference d{.name = expected[i].name, .ratio = ratios[i], .remainder = 0, .sentence = {}};
    d.remainder = std::sqrt(squares[i] / (products[n + i] > 0 ? products[n + i] : 1));
    if (std::abs(d.ratio - 1) <= tolerance && d.remainder <= tolerance) continue;
    d.sentence = sentence_of(d, shape, micro_batches, tolerance, lost[i]);
    differences.push_back(std::move(d));
  }
  return differences;
}

std::string compare_norm(double norm, const Pieces& got, const nn::StateDict& expected, double tolerance) {
  const std::size_t n = expected.size();
  std::vector<double> elements(n), squares(n);
  double own = 0;
  for_each_pair(got, expected, [&](std::size_t i, std::int64_t, const Tensor& mine, const Tensor& theirs) {
    elements[i] += static_cast<double>(mine.numel());
    own += sum(theirs * theirs);
  });
  elements = reduced(elements);
  double copies_of_divided = std::numeric_limits<double>::infinity(), right = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor whole = expected[i].tensor.to(DType::f64);
    squares[i] = sum(whole * whole);
    right += squares[i];
    elements[i] /= static_cast<double>(std::max<std::int64_t>(whole.numel(), 1));  // copies on all ranks
    copies_of_divided = std::min(copies_of_divided, elements[i]);
  }
  const auto is = [&](double square) {
    return std::abs(norm * norm - square) <= 4 * tolerance * std::max(square, right);
  };
  if (is(right)) return {};
  double divided = 0, all_copies = 0;
  std::string example;  // of a parameter that several ranks have whole
  for (std::size_t i = 0; i < n; ++i) {
    const double copies = elements[i] / copies_of_divided;
    if (copies < 1.5) divided += squares[i];
    if (copies >= 1.5 && example.empty()) example = expected[i].name;
    all_copies += copies * squares[i];
  }
  std::string why = "no way of adding up the parts gives that";
  if (!example.empty() && is(divided))
    why =
        fmt::format("it leaves out the replicated parameters, such as {}: each of them counts once", example);
  else if (!example.empty() && is(all_copies))
    why = fmt::format("it counts replicated parameters, such as {}, once per rank that has them", example);
  else if (is(own))
    why = "it is that of one rank's part: sum the squares over the axes that divide parameters";
  else if (const double times = norm * norm / right;
           times > 1.5 && std::abs(times - std::round(times)) < 1e-6)
    why = fmt::format("each element counts {:.0f} times", times);
  return fmt::format("the norm of the gradient is {:.9g}, one rank has {:.9g}: {}", norm, std::sqrt(right),
                     why);
}

}  // namespace dist
