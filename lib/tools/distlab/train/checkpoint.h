// Checkpoints: a run between two epochs or steps, in one safetensors file, or for a run on a mesh in a folder
// (dist/parallel/checkpoint). Training continues from it as if it had never stopped, bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

namespace distlab {

// How far the run is ("epochs_done", "steps_done"), "ranks" and "batch_size", which a resumed run may change,
// and what must be equal in it.
using RunSettings = std::map<std::string, std::int64_t>;

// Writes the model as "model.NAME", the optimizer as "optimizer.NAME", the settings and `more` as "run.NAME".
// The file is either complete or unchanged. Throws Error{resource} when it cannot be written.
void save_checkpoint(const std::filesystem::path& file, dist::nn::Module& model,
                     const dist::nn::Optimizer& optimizer, const RunSettings& settings,
                     const dist::nn::StateDict& more = {});

// Throws Error{invalid_argument}, which names the file, if its setting `name` is not what this run has.
void expect_setting(const std::filesystem::path& file, const std::string& name, std::int64_t found,
                    std::int64_t wanted);

// Throws Error{mismatch} unless all ranks continue after the same number of epochs or steps. They do not if
// each node has its own folder of that name; without this error they would train different models.
// Collective.
void expect_same_progress(std::int64_t done, const std::filesystem::path& file);

// A checkpoint in memory. Every function throws Error{invalid_argument} that names the file.
class Checkpoint {
 public:
  // A file, or the model and the settings of a folder. Also throws for a damaged one and what
  // load_safetensors() and load_whole() throw.
  explicit Checkpoint(const std::filesystem::path& file);
  // The settings of a folder alone, without the model.
  static Checkpoint settings_in(const std::filesystem::path& folder);
  // What `file` would be as a checkpoint, if it is of another program.
  Checkpoint(const std::filesystem::path& file, dist::nn::StateDict all);

  bool has(const std::string& name) const;
  std::int64_t setting(const std::string& name) const;
  std::int64_t setting_or(const std::string& name, std::int64_t otherwise) const;
  const dist::Tensor& extra(const std::string& name) const;
  // Throws for a run with other settings, of which it names the first. The progress may differ, and the
  // numbers of ranks and of samples of each: then it returns one line that says so, otherwise nothing.
  std::string expect(const RunSettings& settings) const;
  // The model's parameters.
  dist::nn::StateDict model() const;
  // What the model's parameters are in; the second throws unless the run was in this dtype. (A mesh in bf16
  // has its master weights as parameters.)
  dist::DType dtype() const;
  void expect(dist::DType dtype) const;
  // Throw for another model or optimizer of it.
  void restore(dist::nn::Module& model) const;
  void restore(dist::nn::Optimizer& optimizer) const;  // of a file

 private:
  std::filesystem::path file_;
  dist::nn::StateDict all_;
};

}  // namespace distlab
