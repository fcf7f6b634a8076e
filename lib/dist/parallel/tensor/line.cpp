#include "dist/parallel/tensor/line.h"

#include <utility>

#include "dist/core/axes.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/diagnosis/compare_copies.h"

namespace dist {

namespace {

constexpr std::int64_t time_axis = 1;

std::vector<Tensor> divided(const Tensor& whole, const TensorLine& line) {
  const std::int64_t time = whole.size(time_axis);
  if (time % line.size() != 0)
    fail(Errc::invalid_argument,
         "sequence parallel at {}: {} cannot be divided among the {} ranks of {}; give it a multiple of them",
         line.where.str(), counted(time, "token"), line.size(), line.axis);
  return chunk(whole, line.size(), time_axis, line.where);
}

}  // namespace

Tensor PendingTensor::wait() {
  std::exchange(work_, {}).wait();  // a Work keeps the memory that it reads and writes
  source_ = {};
  const std::vector<Tensor> parts = std::exchange(parts_, {});
  return result_.is_defined() ? std::exchange(result_, {}) : cat(parts, time_axis);
}

Tensor part_of_time(const Tensor& whole, const TensorLine& line) {
  return divided(whole, line)[static_cast<std::size_t>(line.rank())];
}

PendingTensor gather_time(const Tensor& part, const TensorLine& line, bool async) {
  std::vector<Tensor> parts;
  for (int rank = 0; rank < line.size(); ++rank) parts.push_back(empty_like(part));
  Work work = all_gather(parts, part, {.group = line.group, .async_op = async}, line.where);
  return {std::move(work), {}, std::move(parts), part};
}

PendingTensor reduce_scatter_time(const Tensor& summand, const TensorLine& line, bool async) {
  std::vector<Tensor> parts = divided(summand, line);
  Tensor own = empty_like(parts.front());
  Work work = reduce_scatter(own, parts, ReduceOp::sum, {.group = line.group, .async_op = async}, line.where);
  return {std::move(work), own, std::move(parts)};
}

PendingTensor sum_over(Tensor summand, const TensorLine& line, bool async) {
  Work work = all_reduce(summand, ReduceOp::sum, {.group = line.group, .async_op = async}, line.where);
  return {std::move(work), std::move(summand), {}};
}

void expect_whole(const Tensor& tensor, std::string_view what, const TensorLine& line) {
  if (!compares_copies(line.group)) return;
  compare_copies(line.group, {.axis = line.axis,
                              .names = {fmt::format("{} {}", what, line.layer)},
                              .sketches = {check::sketch_of(tensor)},
                              .where = line.where});
}

void expect_in_one_summand(bool has_it, std::string_view what, const TensorLine& line) {
  if (!compares_copies(line.group)) return;
  compare_copies(line.group, {.axis = line.axis,
                              .names = {fmt::format("{} {}", what, line.layer)},
                              .sketches = {{.norm = has_it ? 1.0F : 0.0F}},
                              .where = line.where,
                              .is_summand = true});
}

}  // namespace dist
