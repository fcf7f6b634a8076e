// DeviceMessage: one message of a device tensor, on one side (device_messages.h).
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "dist/core/tensor.h"
#include "dist/direct/device/copy_batch.h"

namespace dist {

class DeviceMessage final : public Transport {
 public:
  DeviceMessage(DeviceMessages& messages, TransportOptions options, Device device,
                std::shared_ptr<CopyBatch> batch);
  ~DeviceMessage() override;
  DeviceMessage(const DeviceMessage&) = delete;
  DeviceMessage& operator=(const DeviceMessage&) = delete;

  int rank() const override { return offers_->rank(); }
  int size() const override { return offers_->size(); }
  int node_of(int rank) const override { return offers_->node_of(rank); }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  // What is waited for. Sender: its stream, an answer, the host's send; receiver: an offer, the sender's
  // stream, its own copy, the host's receive.
  enum class Stage : std::uint8_t { reaching, offered, giving, expecting, following, copying, taking, over };
  enum class Way : std::uint64_t { mapped, through_host };
  enum class Answer : std::uint64_t { taken, send_it, refused };
  struct Offer {
    std::uint64_t number;   // of the sender's messages
    std::uint64_t process;  // the sender's
    std::int64_t device;    // its index in that process
    Way way;
    std::uint64_t is_there;  // 0: another message follows when the sender's stream has reached the data
    DevicePlace place;
  };
  struct Receipt {
    Answer answer;
    std::uint64_t bytes;  // that the receiver expects
  };

  std::unique_ptr<Transport> open(std::uint64_t tag);
  // Goes one stage further; false: it cannot yet. `blocks`: waits until it is.
  bool advance(bool blocks);
  bool has_come(bool blocks);  // the host's request
  template <class Done, class Wake>
  bool has_reached(bool blocks, const Done& done, const Wake& wake);
  void offer();
  void tell_reached();
  void hear_receipt();
  void give_through_host();
  void take_offer();
  void begin_copy();
  std::byte* reach() noexcept;  // the offered data; null: this device does not
  void answer(Answer answer);
  void take_through_host();
  [[noreturn]] void fail_sizes(std::uint64_t sent, std::uint64_t expected) const;
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  DeviceMessages& messages_;
  const TransportOptions options_;
  const Device device_;
  const std::unique_ptr<Transport> offers_;
  std::shared_ptr<CopyBatch> batch_;
  std::unique_ptr<DeviceMessages::Lane> lane_;
  Stage stage_ = Stage::over;
  TensorView data_;
  int peer_ = -1;
  Offer offer_{};
  Receipt receipt_{};
  std::size_t launch_ = 0;  // in the batch
  bool wakes_ = false;      // the device will interrupt progress()
  std::byte word_{};        // of a message that says no more than that it comes
  Tensor host_;             // a copy of the data
  std::exception_ptr failure_;
  TensorView from_;  // where the offered data is
  std::unique_ptr<Transport> answers_, data_channel_;
  Request came_;  // after the transports, so cancelled before they go
};

}  // namespace dist
