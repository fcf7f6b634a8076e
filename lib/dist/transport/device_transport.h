// DeviceTransport: messages between ranks that reach each other's device memory, so that what is written on a
// Transport runs on device tensors.
//
// A send is an offer on the host: where the data lies, which is ready when the sender's stream says so. The
// receiver's stream waits for that, copies, and says that it has; a receipt tells the sender's host, whose
// stream waits in its turn before the memory is used again. The host waits for the others' calls, never for
// data. Work is enqueued on the stream that is the current one when the transport is made.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>

#include "dist/transport/device_peers.h"
#include "dist/transport/transport.h"

namespace dist {

class DeviceTransport final : public Transport {
 public:
  // What the hosts say, each on a channel of its own.
  struct Channels {
    std::unique_ptr<Transport> offers, receipts;
  };
  // `look` is called while a peer's call is waited for: it rests a little. `peers` and `label` outlive this.
  DeviceTransport(DevicePeers& peers, Channels channels, const CallLabel& label, std::function<void()> look);

  int rank() const override { return peers_.rank(); }
  int size() const override { return peers_.size(); }
  int node_of(int rank) const override { return channels_.offers->node_of(rank); }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  struct Sending {
    int peer;
    std::uint64_t number;  // among the messages to it
    std::byte receipt;
    Request came;           // the receipt
    Scratch lent;           // a copy of memory that the others do not reach
    bool returned = false;  // the stream waits until it was taken
  };
  struct Receiving {
    TensorView data;
    int peer;
    std::uint64_t number;
    DevicePlace place;
    Request came;  // the offer
    bool taken = false;
  };
  TensorView lend(const TensorView& data, Scratch& lent);
  bool take_what_came();
  void take(Receiving& receiving);
  void give_back(Sending& sending);
  template <class Done>
  void await(const Done& done);
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;
  StreamSignals& signals() { return *peers_.signals_; }
  DevicePeers::Post& post(int peer) { return peers_.posts_[rank_index(peer)]; }

  DevicePeers& peers_;
  const Channels channels_;
  const CallLabel& label_;
  const std::function<void()> look_;
  const StreamHandle stream_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Sending> sending_;      // by request, so in their order
  std::map<std::uint64_t, Receiving> receiving_;  // the same
};

}  // namespace dist
