// DeviceTransport: messages between ranks that reach each other's device memory. With it, algorithms that are
// written on a Transport run on device tensors.
//
// A send is an offer on the host: it says where the data is, which is ready when the sender's stream signals
// it. The receiver's stream waits for that signal, copies the data and signals that it has; a receipt
// notifies the sender's host, whose stream waits for the copy before the memory is used again. The host waits
// for the other ranks' calls, never for data. Work is enqueued on the stream that is current when the
// transport is made.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>

#include "dist/direct/device/device_peers.h"
#include "dist/transport/transport.h"

namespace dist {

class DeviceTransport final : public Transport {
 public:
  // The hosts' messages, each kind on its own channel.
  struct Channels {
    std::unique_ptr<Transport> offers, receipts;
  };
  // `look` is called while a peer's call is waited for: it sleeps for a short time. `peers` and `label`
  // outlive this.
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
    std::uint64_t number;  // counts the messages to that peer
    std::byte receipt;
    Request came;           // the receipt
    Scratch lent;           // a copy, where the peer cannot reach the memory
    bool returned = false;  // the stream has been made to wait until it is taken
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
  TensorView accept(Receiving& receiving);
  void acknowledge(Receiving& receiving);
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
  std::map<std::uint64_t, Receiving> receiving_;  // likewise
};

}  // namespace dist
