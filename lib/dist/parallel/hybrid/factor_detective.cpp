#include "dist/parallel/hybrid/factor_detective.h"

#include <algorithm>
#include <cmath>

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

std::string sentence_of(const GradientDifference& d, const HybridShape& shape, int micro_batches,
                        double tolerance) {
  if (!std::isfinite(d.ratio)) return fmt::format("gradient of {} is not finite", d.name);
  if (std::abs(d.ratio) < tolerance && d.remainder < tolerance)
    return fmt::format("gradient of {} is 0: it was never computed or never received", d.name);
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

// Calls f(number of the tensor, what this rank has, what one rank has) for each piece.
template <class F>
void for_each_pair(const Pieces& got, const nn::StateDict& expected, const F& f) {
  for (const Piece& piece : got) {
    const auto at = std::ranges::find(expected, piece.name, &nn::NamedTensor::name);
    if (at == expected.end()) continue;
    const Tensor part = zeros(piece.data.shape(), at->tensor.dtype());
    (void)copy_common({piece.name, at->tensor, piece.whole, Shape(piece.whole.size(), 0)},
                      {piece.name, part, piece.whole, piece.offset});
    f(static_cast<std::size_t>(at - expected.begin()), piece.data.to(cpu).to(DType::f64),
      part.to(DType::f64));
  }
}

std::vector<double> summed(const std::vector<double>& own) {
  Tensor all = tensor(std::span<const double>(own), cpu);
  all_reduce(all);
  return all.to_vector<double>();
}

}  // namespace

// The remainder in a pass of its own: as the difference of two sums it would have half as many correct
// digits.
std::vector<GradientDifference> compare_gradients(const Pieces& got, const nn::StateDict& expected,
                                                  const HybridShape& shape, int micro_batches,
                                                  double tolerance) {
  const std::size_t n = expected.size();
  std::vector<double> products(2 * n), squares(n), ratios(n, 1);  // products: got expected, then expected^2
  for_each_pair(got, expected, [&](std::size_t i, const Tensor& mine, const Tensor& theirs) {
    products[i] += sum(mine * theirs);
    products[n + i] += sum(theirs * theirs);
  });
  products = summed(products);
  for (std::size_t i = 0; i < n; ++i)
    if (products[n + i] > 0) ratios[i] = products[i] / products[n + i];
  for_each_pair(got, expected, [&](std::size_t i, const Tensor& mine, const Tensor& theirs) {
    const Tensor rest = mine - theirs * ratios[i];
    squares[i] += sum(rest * rest);
  });
  squares = summed(squares);
  std::vector<GradientDifference> differences;
  for (std::size_t i = 0; i < n; ++i) {
    GradientDifference d{.name = expected[i].name, .ratio = ratios[i], .remainder = 0, .sentence = {}};
    d.remainder = std::sqrt(squares[i] / (products[n + i] > 0 ? products[n + i] : 1));
    if (std::abs(d.ratio - 1) <= tolerance && d.remainder <= tolerance) continue;
    d.sentence = sentence_of(d, shape, micro_batches, tolerance);
    differences.push_back(std::move(d));
  }
  return differences;
}

}  // namespace dist
