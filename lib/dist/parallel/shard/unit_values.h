// UnitValues: the values of a unit's parameters. They are this rank's rows, or for a while, after an
// all-gather, all rows.
#pragma once

#include <vector>

#include "dist/parallel/shard/unit_plan.h"

namespace dist {

class UnitValues {
 public:
  // The parameters become views of this rank's rows, and their records say so. The plan outlives this.
  explicit UnitValues(const UnitPlan& plan);

  bool are_gathered() const { return whole_.is_defined(); }
  // Starts the all-gather, unless it is under way or its result is there. Throws Error{invalid_argument},
  // which names the parameter, if one was converted after fully_shard().
  void start_gather();
  // From now on the parameters are whole. Blocks.
  void gather();
  // Ends an all-gather that no gather() has asked for, and forgets what it brought. Blocks.
  void drop_gather();
  // The parameters are this rank's rows again.
  void release();
  // The same after an error; does not wait for an all-gather that is under way.
  void abandon() noexcept;

 private:
  const UnitPlan& plan_;
  Tensor shard_;              // flat: this rank's rows
  std::vector<Tensor> rows_;  // of each parameter, views of it
  Work work_;                 // the all-gather
  Tensor gathering_;          // what it writes: the shards of all ranks, until they are unpacked
  Tensor whole_;              // flat: the whole parameters, while they are gathered
};

}  // namespace dist
