// UnitGradients: the room for gradients (arrange, attach, detach), sums between reductions (keep, forget),
// and reductions (start_scatter, finish_scatter, start_average, finish_average).
#include "dist/parallel/shard/unit_gradients.h"

#include <algorithm>
#include <utility>

#include "dist/core/fail.h"
#include "dist/parallel/packed.h"

namespace dist {

void Reductions::finish() {
  if (scattering) scattering->finish_scatter(*this);
  if (averaging) std::exchange(averaging, nullptr)->finish_average();
}

bool UnitGradients::are_arranged() const {
  if (is_trained_.size() != plan_.parameters.size()) return false;
  for (std::size_t i = 0; i < is_trained_.size(); ++i)
    if (plan_.parameters[i].parameter->requires_grad() != is_trained_[i]) return false;
  return true;
}

// What there is of those that stay trained moves.
void UnitGradients::arrange() {
  if (is_attached_ || are_arranged()) return;
  std::vector<bool> now;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    now.push_back(plan_.parameters[i].parameter->requires_grad());
    shapes.push_back(now[i] ? plan_.layout.whole_shape(i) : Shape{0});
  }
  const FlatLayout layout(shapes, plan_.ranks);
  const auto move = [&](Tensor& sums, std::int64_t elements, const auto& of) {
    if (!sums.is_defined()) return;
    const Tensor moved = zeros({elements}, sums.dtype(), sums.device());
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] && is_trained_[i]) Tensor(of(layout, moved, i)).copy_(of(layout_, sums, i));
    sums = elements > 0 ? moved : Tensor();
  };
  const auto whole = [](const FlatLayout& l, const Tensor& flat, std::size_t i) { return l.whole(flat, i); };
  const auto part = [this](const FlatLayout& l, const Tensor& flat, std::size_t i) {
    return l.part(flat, i, plan_.rank);
  };
  move(whole_, layout.whole_elements(), whole);
  move(whole_sums_, layout.whole_elements(), whole);
  move(line_sums_, layout.shard_elements(), part);
  layout_ = layout, is_trained_ = now;
  shard_ = zeros({layout.shard_elements()}, plan_.dtype, plan_.device);
  rows_.clear();
  for (std::size_t i = 0; i < now.size(); ++i) rows_.push_back(part(layout, shard_, i));
  take_over();
}

// requires_grad(true) makes a gradient as large as the value is then.
void UnitGradients::take_over() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!is_trained_[i]) continue;
    nn::Parameter& parameter = *plan_.parameters[i].parameter;
    Tensor& grad = parameter.grad;
    if (grad.is_defined() && grad.shape() == layout_.whole_shape(i))
      grad = layout_.part_of(grad, i, plan_.rank);
    put_back(grad, rows_[i], "gradient", parameter.name);
  }
}

void UnitGradients::attach() {
  arrange();
  if (!trains()) return;
  take_over();
  if (!whole_.is_defined()) whole_ = zeros({layout_.whole_elements()}, plan_.computed, plan_.device);
  is_attached_ = true;
  is_clear_ = is_trained_, is_clear_.flip();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (is_trained_[i]) plan_.parameters[i].parameter->grad = layout_.whole(whole_, i);
}

void UnitGradients::detach() {
  if (!is_attached_) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!is_trained_[i]) continue;
    nn::Parameter& parameter = *plan_.parameters[i].parameter;
    put_back(parameter.grad, layout_.whole(whole_, i), "gradient", parameter.name);
    parameter.grad = rows_[i];
  }
  is_attached_ = false;
}

void UnitGradients::reduce(Reductions& all) {
  if (trains()) syncs ? start_scatter(all) : keep();
}

// Between backwards, sums are in the dtype of the reduction: bf16 would lose what is small compared with
// them.
void UnitGradients::keep() {
  if (!whole_.is_defined() || plan_.reduced == plan_.computed) return;
  const Tensor grads = std::exchange(whole_, {}).to(plan_.reduced);
  if (whole_sums_.is_defined())
    whole_sums_.add_(grads);
  else
    whole_sums_ = grads;
}

void UnitGradients::catch_up(Reductions& all) {
  arrange();
  const bool scatters = syncs && (whole_.is_defined() || whole_sums_.is_defined());
  if (!scatters && !(all_reduces && line_sums_.is_defined())) return;
  take_over();
  if (scatters) return start_scatter(all);
  reduction_.emplace().out = std::exchange(line_sums_, {});
  start_average(all);
}

// One reduce-scatter at a time: the one before has had this unit's backward to finish.
void UnitGradients::start_scatter(Reductions& all) {
  if (all.scattering) all.scattering->finish_scatter(all);
  all.scattering = this;
  Reduction& r = reduction_.emplace();
  if (whole_sums_.is_defined()) keep();
  r.in = empty({layout_.all_elements()}, plan_.reduced, plan_.device);
  layout_.pack(std::exchange(whole_sums_.is_defined() ? whole_sums_ : whole_, {}), r.in);
  r.out = empty({layout_.shard_elements()}, plan_.reduced, plan_.device);
  r.work = reduce_scatter_tensor(r.out, r.in, ReduceOp::avg, {.group = plan_.group, .async_op = true},
                                 plan_.where);
  if (plan_.ranks == 1) finish_scatter(all);
}

// Without all_reduces the sums wait for the next reduction with it.
void UnitGradients::finish_scatter(Reductions& all) {
  all.scattering = nullptr;
  Reduction& r = *reduction_;
  std::exchange(r.work, {}).wait();
  r.in = {};
  if (!plan_.replicas) return finish_average();
  if (line_sums_.is_defined()) r.out.add_(std::exchange(line_sums_, {}));
  if (all_reduces) return start_average(all);
  line_sums_ = r.out;
  reduction_.reset();
}

// One all-reduce at a time, too, in the next unit's backward.
void UnitGradients::start_average(Reductions& all) {
  if (all.averaging) all.averaging->finish_average();
  all.averaging = this;
  reduction_->work =
      all_reduce(reduction_->out, ReduceOp::avg, {.group = plan_.replicas, .async_op = true}, plan_.where);
}

void UnitGradients::finish_average() {
  Reduction r = std::move(*reduction_);
  reduction_.reset();
  r.work.wait();
  shard_.add_(r.out.dtype() == plan_.dtype ? r.out : r.out.to(plan_.dtype));
}

void UnitGradients::forget(std::size_t i) {
  if (!is_trained_[i]) return;
  for (const Tensor& sums : {whole_, whole_sums_})
    if (sums.is_defined()) layout_.whole(sums, i).zero_();
  if (line_sums_.is_defined()) layout_.part(line_sums_, i, plan_.rank).zero_();
  if (is_clear_.empty() || is_attached_) return;
  is_clear_[i] = true;
  if (std::ranges::find(is_clear_, false) == is_clear_.end()) whole_ = whole_sums_ = line_sums_ = {};
}

void UnitGradients::abandon(Reductions& all) noexcept {
  if (all.scattering == this) all.scattering = nullptr;
  if (all.averaging == this) all.averaging = nullptr;
  reduction_.reset();
  if (!is_attached_) return;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (nn::Parameter& parameter = *plan_.parameters[i].parameter;
        is_trained_[i] && parameter.requires_grad())
      parameter.grad = rows_[i];
  is_attached_ = false;
  whole_ = whole_sums_ = line_sums_ = {};
}

}  // namespace dist
