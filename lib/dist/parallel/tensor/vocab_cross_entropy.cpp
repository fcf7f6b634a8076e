#include "dist/parallel/tensor/vocab_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dist/core/shape.h"
#include "dist/core/view.h"
#include "dist/group/check_same.h"
#include "dist/nn/loops.h"
#include "dist/nn/row_functors.h"

namespace dist {

namespace {

constexpr const char* who = "VocabParallelCrossEntropy";

// Rows of logits on the CPU; their elements become exponentials, and then gradients.
template <class T>
struct Rows {
  T* data;
  std::int64_t count, width;
  T* row(std::int64_t r) const { return data + r * width; }

  // The largest of each row; -inf for a rank without classes.
  void largest(double* out) const {
    for (std::int64_t r = 0; r < count; ++r)
      out[r] = width == 0 ? -std::numeric_limits<double>::infinity()
                          : static_cast<double>(*std::max_element(row(r), row(r) + width));
  }
  // Each element becomes exp(x - largest); and the sum of each row.
  void exponentials(const double* largest, double* sums) const {
    for (std::int64_t r = 0; r < count; ++r) {
      T* const x = row(r);
      const T most = static_cast<T>(largest[r]);
      nn::for_each_element(width,
                           [x, most](std::int64_t i) { x[i] = nn::functors::exponential(x[i] - most); });
      sums[r] = nn::sum_of(width, [x](std::int64_t i) -> double { return x[i]; });
    }
  }
  void scale(std::int64_t r, double factor) const {
    T* const x = row(r);
    const T by = static_cast<T>(factor);
    nn::for_each_element(width, [x, by](std::int64_t i) { x[i] *= by; });
  }
};

}  // namespace

VocabParallelCrossEntropy::VocabParallelCrossEntropy(const DeviceMesh& mesh, std::int64_t classes,
                                                     nn::CrossEntropyOptions options, Caller at)
    : line_{mesh.get_group(at), mesh.names().front(), users_line(at)},
      classes_(classes),
      first_(line_.group.is_member() ? torch_chunk_begin(classes, line_.rank(), line_.size()) : 0),
      own_(line_.group.is_member() ? torch_chunk_begin(classes, line_.rank() + 1, line_.size()) - first_ : 0),
      options_(options) {
  check_same(who, fmt::format("{} classes, ignore_index {}", classes, options.ignore_index), line_.group,
             line_.where);
}

nn::Loss VocabParallelCrossEntropy::forward(const Tensor& logits, const Tensor& targets) {
  nn::check_input(who, logits);
  if (logits.dim() < 2 || logits.size(-1) != own_)
    nn::fail_shape(who, logits, fmt::format("[batch, ..., {} of {} classes]", own_, classes_));
  const std::int64_t rows = product(Shape(logits.shape().begin(), logits.shape().end() - 1));
  const Shape expected(logits.shape().begin(), logits.shape().end() - 1);
  if (!targets.is_defined() || targets.dtype() != DType::i64 || targets.shape() != expected)
    fail(Errc::invalid_argument, "{}: targets {} i64 are expected, one for each row of logits, {} in all",
         who, to_string(expected), rows);
  const Tensor on_host = targets.to(cpu);
  const std::int64_t counted = nn::count_targets(who, on_host, classes_, options_.ignore_index);
  const auto target = on_host.data<std::int64_t>();
  Tensor grad = logits.to(cpu);
  if (grad.dtype() == DType::bf16)
    grad = grad.to(DType::f32);
  else if (logits.device() == cpu && !options_.in_place)
    grad = grad.clone();

  Tensor largest = empty({rows}, DType::f64, cpu), sums = empty_like(largest), losses = zeros_like(largest);
  nn::visit_computed(grad.dtype(), [&]<class T>() {
    const Rows<T> all{nn::elements<T>(grad), rows, own_};
    const auto is_own = [&](std::int64_t r) {
      const std::int64_t t = target[static_cast<std::size_t>(r)];
      return t >= first_ && t < first_ + own_;
    };
    const auto own_target = [&](std::int64_t r) -> T& {
      return all.row(r)[target[static_cast<std::size_t>(r)] - first_];
    };
    all.largest(nn::elements<double>(largest));
    all_reduce(largest, ReduceOp::max, {.group = line_.group}, line_.where);
    double* const loss = nn::elements<double>(losses);
    const double* const most = nn::elements<double>(largest);
    for (std::int64_t r = 0; r < rows; ++r)
      if (is_own(r)) loss[r] = most[r] - own_target(r);
    all.exponentials(most, nn::elements<double>(sums));
    all_reduce(sums, {.group = line_.group}, line_.where);
    all_reduce(losses, {.group = line_.group}, line_.where);
    const double each = counted == 0 ? 0 : 1 / static_cast<double>(counted);
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool counts = target[static_cast<std::size_t>(r)] != options_.ignore_index;
      const double total = nn::elements<double>(sums)[r];
      loss[r] = counts ? loss[r] + std::log(total) : 0;
      all.scale(r, counts ? each / total : 0);
      if (counts && is_own(r)) own_target(r) -= static_cast<T>(each);
    }
  });
  if (logits.dtype() == DType::bf16) grad = grad.to(DType::bf16);
  grad_.keep(grad.to(logits.device()));
  return {losses, static_cast<double>(counted)};
}

Tensor VocabParallelCrossEntropy::backward() { return grad_.take(); }

}  // namespace dist
