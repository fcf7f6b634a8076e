// A backend composed of the algorithms of collectives/ and an Endpoint: "host" and "sim". Each operation
// opens a Transport of its own, so that operations under way at the same time cannot meet each other's
// messages.
#pragma once

#include <memory>
#include <string>

#include "dist/backend/algorithm_chooser.h"
#include "dist/backend/ordered.h"
#include "dist/transport/peer_memory.h"

namespace dist {

class ComposedBackend final : public OrderedBackend {
 public:
  ComposedBackend(std::string_view name, const BackendContext& context);  // `name`: static storage
  ~ComposedBackend() override;

  std::string algorithm_for(const Operation& operation) const override;

 private:
  std::unique_ptr<Transport> open_message(const Operation& operation) override;
  int carry(const Operation& operation) override;
  void prepare(const Operation& operation) override;
  Way choose(const Operation& operation) override;
  void execute(const Operation& operation) override;

  AlgorithmChooser chooser_;
  // How this group works without messages; made by its first collective. Null where it does not.
  std::unique_ptr<PeerMemory> peers_;
  // Of the collective that runs.
  const AlgorithmEntry* running_ = nullptr;
  bool is_direct_ = false;
};

}  // namespace dist
