#include "dist/backend/host_backend.h"

#include <fmt/format.h>

#include "dist/backend/operation_label.h"
#include "dist/backend/run_collective.h"
#include "dist/backend/run_direct.h"

namespace dist {

HostCollectives::HostCollectives(const BackendContext& context)
    : context_(context),
      chooser_({.ranks = context.members.size(), .nodes = context.nodes}, context.costs, context.algorithms) {
}

std::string HostCollectives::algorithm_for(const Operation& operation) const {
  return is_collective(operation.kind) ? std::string(chooser_.pick(operation, maps_).name) : std::string();
}

// All ranks get the same result.
void HostCollectives::prepare(const Operation& operation) {
  if (prepared_) return;
  peers_ = connect_direct(
      *context_.endpoint,
      options_of(context_, operation, std::string(dist::name(operation.kind)), connect_direct_tag));
  maps_ = peers_ != nullptr;
  prepared_ = true;
}

Plan HostCollectives::choose(const Operation& operation) {
  // Contributions to premul_sum are multiplied first, in memory of their own, which the others do not map.
  const bool mapped = peers_ && operation.op.kind() != ReduceOp::Kind::premul_sum;
  const AlgorithmEntry* const next = &chooser_.pick(operation, mapped);
  if (next != running_) direct_function_ = direct_function(*next);
  running_ = next;
  is_direct_ = mapped && direct_function_ != nullptr;
  return {running_->name, is_direct_};
}

void HostCollectives::execute(const Operation& operation) {
  const auto options = [&] {
    return options_of(context_, operation, fmt::format("{}_{}", running_->name, dist::name(operation.kind)));
  };
  if (is_direct_) return run_direct(*peers_, operation, direct_function_, OperationLabel(options));
  const auto net = context_.endpoint->open(options());
  run_collective(*net, operation, [&](CollectiveArgs args) {
    args.segment_bytes = chooser_.segment_bytes();
    running_->run(*net, args);
  });
}

}  // namespace dist
