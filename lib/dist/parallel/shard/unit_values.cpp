#include "dist/parallel/shard/unit_values.h"

#include <utility>

#include "dist/parallel/packed.h"

namespace dist {

UnitValues::UnitValues(const UnitPlan& plan) : plan_(plan) {
  shard_ = zeros({plan.layout.shard_elements()}, plan.dtype, plan.device);
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    nn::Parameter& parameter = *plan.parameters[i].parameter;
    Placed& placed = place(parameter);
    placed.axes.insert(placed.axes.end(), plan.axes.begin(), plan.axes.end());
    rows_.push_back(plan.layout.part(shard_, i, plan.rank));
    rows_[i].copy_(plan.layout.part_of(parameter.value, i, plan.rank));
    parameter.value = rows_[i];
  }
}

// Another tensor that the user has put in the place of the rows counts.
void UnitValues::start_gather() {
  if (are_gathered() || gathering_.is_defined() || rows_.empty()) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    nn::Parameter& parameter = *plan_.parameters[i].parameter;
    put_back(parameter.value, rows_[i], "value", parameter.name);
  }
  gathering_ = empty({plan_.layout.all_elements()}, plan_.gathered, plan_.device);
  const Tensor mine = plan_.gathered == plan_.dtype ? shard_ : shard_.to(plan_.gathered);
  work_ = all_gather_into_tensor(gathering_, mine, {.group = plan_.group, .async_op = true}, plan_.where);
}

void UnitValues::gather() {
  if (are_gathered() || rows_.empty()) return;
  start_gather();
  std::exchange(work_, {}).wait();  // a Work keeps the memory that it reads and writes
  const Tensor whole = empty({plan_.layout.whole_elements()}, plan_.computed, plan_.device);
  plan_.layout.unpack(std::exchange(gathering_, {}), whole);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    plan_.parameters[i].parameter->value = plan_.layout.whole(whole, i);
  whole_ = whole;
}

void UnitValues::drop_gather() {
  std::exchange(work_, {}).wait();
  gathering_ = {};
}

// Another tensor in the place of the gathered one counts, too: its rows of this rank, or if it has no more
// than these, all of it.
void UnitValues::release() {
  if (!are_gathered()) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Tensor& value = plan_.parameters[i].parameter->value;
    const Tensor whole = plan_.layout.whole(whole_, i);
    if (value.raw() == whole.raw() && value.dtype() == whole.dtype())
      value = rows_[i];
    else if (value.shape() == whole.shape())
      value = plan_.layout.part_of(value, i, plan_.rank).clone();
  }
  whole_ = {};
}

void UnitValues::abandon() noexcept {
  work_ = {}, gathering_ = {};
  release();
}

}  // namespace dist
