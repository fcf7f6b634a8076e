// UnitGradients: the gradients of a unit's parameters. Between two steps they are this rank's rows; in the
// unit's backward they are whole, and then reduced into the rows, or summed up until they are. Parameters
// that are not trained have no part in any of it.
#pragma once

#include <optional>
#include <vector>

#include "dist/parallel/shard/unit_plan.h"

namespace dist {

class UnitGradients;

// The reductions under way among all units of a model: one reduce-scatter at most, and with lines of shards
// one all-reduce of an earlier one's result. Each overlaps with the next unit's backward.
struct Reductions {
  UnitGradients *scattering = nullptr, *averaging = nullptr;
  void finish();
};

class UnitGradients {
 public:
  // The plan outlives this.
  explicit UnitGradients(const UnitPlan& plan) : plan_(plan) { arrange(); }

  // Makes room for the gradients of those parameters that are trained now.
  void arrange();
  // Another tensor that the user has put in the place of a gradient counts.
  void take_over();
  // From now on layers add to whole gradients, and after detach() no longer.
  void attach();
  void detach();

  // After detach(): starts the reduction of all sums, or with `syncs` off keeps them for a later one.
  void reduce(Reductions& all);
  void keep();
  // Starts what is still to be done with the sums of earlier backwards, if the unit had no part in this one.
  void catch_up(Reductions& all);

  // The gradient of parameter i was set to 0: forgets the sums in which it is.
  void forget(std::size_t i);
  // After an error. Forgets the backward that is under way, and its sums with those before.
  void abandon(Reductions& all) noexcept;

  bool syncs = true, all_reduces = true;

 private:
  friend struct Reductions;
  bool are_arranged() const;
  void start_scatter(Reductions& all);
  void finish_scatter(Reductions& all);
  void start_average(Reductions& all);
  void finish_average();
  bool trains() const { return layout_.whole_elements() > 0; }

  const UnitPlan& plan_;
  std::vector<bool> is_trained_;  // each parameter, when arrange() has last looked
  FlatLayout layout_{{}, 1};      // of those that are trained; the others have no elements
  Tensor shard_;                  // flat: this rank's rows
  std::vector<Tensor> rows_;      // of each parameter, views of it

  bool is_attached_ = false;
  Tensor whole_;       // flat, whole: in backward, and between those without reduction
  Tensor whole_sums_;  // the same between backwards, if they are reduced in another dtype: in that one
  Tensor line_sums_;   // flat, rows: sums over this line of shards, until they are reduced across lines
  std::vector<bool> is_clear_;  // the parameters that have no part in these sums

  struct Reduction {
    Work work;  // the reduce-scatter, then, with lines of shards, the all-reduce of its result
    Tensor in, out;
  };
  std::optional<Reduction> reduction_;
};

}  // namespace dist
