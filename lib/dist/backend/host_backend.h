// The backend on CPU tensors: the algorithms of collectives/ and direct/ on an Endpoint. It is "host", and on
// virtual ranks "sim".
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "dist/backend/algorithm_chooser.h"
#include "dist/backend/ordered.h"
#include "dist/direct/algorithms.h"

namespace dist {

// The collectives of one group. Each opens a Transport of its own, so that operations under way at the same
// time cannot receive each other's messages; where all ranks map each other's memory it needs none. Runs one
// collective at a time.
class HostCollectives {
 public:
  explicit HostCollectives(const BackendContext& context);  // `context` outlives this object

  std::string algorithm_for(const Operation& operation) const;
  const AlgorithmChooser& chooser() const { return chooser_; }
  // To be called before each collective; the first time, all ranks communicate.
  void prepare(const Operation& operation);
  Plan choose(const Operation& operation);
  void execute(const Operation& operation);  // as choose() decided last

 private:
  const BackendContext& context_;
  AlgorithmChooser chooser_;
  bool prepared_ = false;
  // How this group works without messages; null where it does not.
  std::unique_ptr<PeerMemory> peers_;
  std::atomic<bool> maps_ = false;  // the same, for threads that ask while the first collective runs
  // The algorithm of the running collective.
  const AlgorithmEntry* running_ = nullptr;
  DirectFunction direct_function_ = nullptr;  // how it works in mapped memory, if it does
  bool is_direct_ = false;
};

class HostBackend final : public OrderedBackend {
 public:
  // `name`: static storage.
  HostBackend(std::string_view name, const BackendContext& context)
      : OrderedBackend(name, context, context.endpoint), collectives_(context_) {}
  ~HostBackend() override { stop(); }

  std::string algorithm_for(const Operation& operation) const override {
    return collectives_.algorithm_for(operation);
  }

 private:
  void prepare(const Operation& operation) override { collectives_.prepare(operation); }
  Plan choose(const Operation& operation) override { return collectives_.choose(operation); }
  void execute(const Operation& operation) override { collectives_.execute(operation); }

  HostCollectives collectives_;
};

}  // namespace dist
