// HostCollectives: the collectives of one group on CPU tensors, by the algorithms of collectives/ and an
// Endpoint. Each opens a Transport of its own, so that operations under way at the same time cannot meet each
// other's messages; where all ranks map each other's memory it needs none.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "dist/backend/algorithm_chooser.h"
#include "dist/backend/backend.h"
#include "dist/transport/peer_memory.h"

namespace dist {

// One collective at a time.
class HostCollectives {
 public:
  explicit HostCollectives(const BackendContext& context);  // which outlives it

  std::string algorithm_for(const Operation& operation) const;
  const AlgorithmChooser& chooser() const { return chooser_; }
  // Before each; the first time all ranks talk to each other.
  void prepare(const Operation& operation);
  Plan choose(const Operation& operation);
  void execute(const Operation& operation);  // as was chosen last

 private:
  const BackendContext& context_;
  AlgorithmChooser chooser_;
  bool prepared_ = false;
  // How this group works without messages. Null where it does not.
  std::unique_ptr<PeerMemory> peers_;
  std::atomic<bool> maps_ = false;  // the same, for who asks while the first collective runs
  // Of the collective that runs.
  const AlgorithmEntry* running_ = nullptr;
  bool is_direct_ = false;
};

}  // namespace dist
