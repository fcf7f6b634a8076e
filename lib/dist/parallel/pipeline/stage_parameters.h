// The parameters of a rank's stages: what is recorded of them, and which of them the ranks train.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dist/group/process_group.h"
#include "dist/nn/module.h"
#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {

class StageParameters {
 public:
  // Records (mesh/placed.h) that other ranks of the group have other stages; a rank without parameters has no
  // part in norms. Every rank of the group must call it. The modules must outlive this.
  StageParameters(const std::vector<nn::Module*>& stages, const Shape& shape, const ProcessGroup& group,
                  CallSite at);
  ~StageParameters();
  StageParameters(const StageParameters&) = delete;
  StageParameters& operator=(const StageParameters&) = delete;

  bool empty() const { return all_.empty(); }
  void on_cleared(const std::function<void()>& f);  // called when gradients are set to 0

  // Whether some were frozen or unfrozen since have_agreed(); at first all are trained.
  bool train_others() const;
  // "transformer.h.0.ln_1.weight of stage 0", and whether it is trained. A second copy is the first stage's.
  std::map<std::string, bool> trained() const;
  void have_agreed();

 private:
  std::string role() const;  // with which it listens
  std::vector<nn::NamedParameter> all_;
  std::vector<bool> trained_;
};

}  // namespace dist::pipeline
