#include "dist/parallel/parameter_server.h"

#include <vector>

#include "dist/core/fail.h"
#include "dist/group/check_same.h"
#include "dist/mesh/placed.h"
#include "dist/parallel/packed.h"
#include "dist/parallel/replicas.h"

namespace dist {
namespace {

Tensor packed(const std::vector<nn::NamedParameter>& parameters, Tensor nn::Parameter::*which) {
  std::vector<Tensor*> tensors;
  for (const auto& [name, parameter] : parameters) {
    tensors.push_back(&(parameter->*which));
    if (tensors.back()->dtype() != tensors.front()->dtype() ||
        tensors.back()->device() != tensors.front()->device())
      fail(Errc::invalid_argument,
           "ParameterServer: \"{}\" differs in dtype or device from the parameters before it", name);
  }
  if (tensors.empty())
    fail(Errc::invalid_argument, "ParameterServer: the model has no parameters that are trained");
  return pack(tensors);
}

}  // namespace

ParameterServer::ParameterServer(nn::Module& model, nn::Optimizer& optimizer,
                                 const ParameterServerOptions& options, CallSite where)
    : model_(model),
      optimizer_(optimizer),
      group_(options.group ? options.group : default_group(where)),
      server_(options.server),
      where_(users_line(where)) {
  (void)group_.global_rank(server_);  // throws if there is no such rank
  require_whole("ParameterServer", model.named_parameters(), group_, where_);
  check_same("ParameterServer", description(model), group_, where_);
  broadcast_state(model, group_, where_);
  all_ = model.parameters().size();
  arrange();
}

void ParameterServer::arrange() {
  parameters_ = trained_of(model_.named_parameters());
  values_ = packed(parameters_, &nn::Parameter::value);
  gradients_ = packed(parameters_, &nn::Parameter::grad);
  places_.clear();
  for (const auto& [name, parameter] : parameters_) places_.push_back(parameter->grad);
}

void ParameterServer::step() {
  const auto began = Clock::now();
  if (model_.parameters().size() != all_)
    fail(Errc::invalid_argument,
         "ParameterServer: the model has {} parameters now and had {} when the ParameterServer was made; "
         "make it after "
         "the change",
         model_.parameters().size(), all_);
  const bool has_changed = !are_trained(parameters_, model_.named_parameters());
  Tensor changes = full({1}, has_changed ? 1 : 0, DType::i32, gradients_.device());
  all_reduce(changes, ReduceOp::max, {.group = group_}, where_);
  if (changes.item<std::int32_t>() != 0) {
    check_same("ParameterServer", description(model_), group_, where_);
    arrange();
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) put_back_gradient(parameters_[i], places_[i]);
  if (!is_server()) {
    send(gradients_, -1, {.group = group_, .group_dst = server_}, where_);
    recv(values_, -1, {.group = group_, .group_src = server_}, where_);
    exposed_ = Clock::now() - began;
    return;
  }
  collect_gradients();
  const auto collected = Clock::now();
  optimizer_.step();
  const auto updated = Clock::now();
  hand_out_values();
  exposed_ = (collected - began) + (Clock::now() - updated);
}

// In the order of ranks, so that the sum does not depend on which rank is fast.
void ParameterServer::collect_gradients() {
  Tensor sum = zeros_like(gradients_), theirs = empty_like(gradients_);
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != server_) recv(theirs, -1, {.group = group_, .group_src = rank}, where_);
    sum.add_(rank == server_ ? gradients_ : theirs);
  }
  gradients_.copy_(sum.div_(group_.size()));
}

void ParameterServer::hand_out_values() {
  std::vector<Work> under_way;
  for (int rank = 0; rank < group_.size(); ++rank)
    if (rank != server_)
      under_way.push_back(isend(values_, -1, {.group = group_, .group_dst = rank}, where_));
  for (Work& work : under_way) work.wait();
}

}  // namespace dist
