#include "dist/parallel/pipeline/stage_parameters.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/mesh/placed.h"

namespace dist::pipeline {

StageParameters::StageParameters(const std::vector<nn::Module*>& stages, const Shape& shape,
                                 const ProcessGroup& group, CallSite at) {
  const int rank = get_rank(group, at);
  for (int stage = rank; nn::Module* const module : stages) {
    for (const auto& [name, parameter] : module->named_parameters())
      all_.push_back({fmt::format("{} of stage {}", name, stage), parameter});
    stage += shape.ranks;
  }
  trained_.assign(all_.size(), true);
  if (shape.ranks == 1) return;
  const auto have = all_gather_object(all_.empty() ? "none" : "some", {.group = group}, at);
  ProcessGroup among = group;
  if (std::ranges::find(have, "none") != have.end())
    among = split_group(all_.empty() ? -1 : 0, rank, {.parent = group}, at);
  for (const auto& [name, parameter] : all_) {
    auto& axes = place(*parameter).axes;
    std::erase_if(axes, [](const PlacedAxis& axis) { return axis.is_stage; });  // of an earlier Pipeline
    axes.push_back({.name = "pp", .group = among, .is_stage = true});
  }
}

StageParameters::~StageParameters() {
  for (const auto& [name, parameter] : all_) parameter->stop_listening(role(), this);
}

std::string StageParameters::role() const { return fmt::format("pipeline {}", fmt::ptr(this)); }

void StageParameters::on_cleared(const std::function<void()>& f) {
  for (const auto& [name, parameter] : all_)
    parameter->listen(nn::Parameter::Event::cleared, role(), this, f);
}

bool StageParameters::train_others() const {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].parameter->requires_grad() != trained_[i]) return true;
  return false;
}

std::map<std::string, bool> StageParameters::trained() const {
  std::map<std::string, bool> trained;
  for (const auto& [name, parameter] : all_) {
    const Placed* const placed = placed_of(*parameter);
    const bool is_copy = placed && !placed->copy_of.empty();
    trained.try_emplace(is_copy ? placed->copy_of + " of stage 0" : name, parameter->requires_grad());
  }
  return trained;
}

void StageParameters::have_agreed() {
  for (std::size_t i = 0; i < all_.size(); ++i) trained_[i] = all_[i].parameter->requires_grad();
}

}  // namespace dist::pipeline
