// A backend composed of the algorithms of collectives/ and an Endpoint: "host" and "sim". Each operation
// opens a Transport of its own, so that operations under way at the same time cannot meet each other's
// messages.
#pragma once

#include <memory>
#include <string>

#include "dist/backend/algorithm_chooser.h"
#include "dist/backend/backend.h"
#include "dist/backend/progress_thread.h"
#include "dist/transport/peer_memory.h"

namespace dist {

class ComposedBackend final : public Backend {
 public:
  ComposedBackend(std::string_view name, const BackendContext& context);  // `name`: static storage
  ~ComposedBackend() override;

  std::string_view name() const override { return name_; }
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, DeviceType device,
                std::string* why) const override;
  int run(const Operation& operation) override;
  std::shared_ptr<WorkState> submit(Operation operation) override;
  std::vector<std::string> finish() override;
  std::string algorithm_for(const Operation& operation) const override;

 private:
  int run_message(const Operation& operation);
  void run_collective_now(const Operation& operation);
  PeerMemory* peers_for(const Operation& operation);
  std::exception_ptr abandon(const Operation& operation);
  TransportOptions options_of(const Operation& operation, std::string label) const;
  std::unique_ptr<Transport> open(const Operation& operation, std::string label) const;

  const std::string_view name_;
  BackendContext context_;
  AlgorithmChooser chooser_;
  // The first collective that failed: the ranks are no longer in step then, and later ones end with
  // Error{aborted}. Used by whichever thread runs collectives, one at a time.
  std::string broken_by_;
  // How this group works without messages; made by its first collective. Null where it does not.
  std::unique_ptr<PeerMemory> peers_;
  bool asked_peers_ = false;
  ProgressThread thread_;  // last: its thread uses the rest
};

}  // namespace dist
