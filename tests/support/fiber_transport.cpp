#include "support/fiber_transport.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "dist/core/fail.h"

#include "support/fiber_scheduler.h"

namespace dist::test {

namespace {

class FiberNet final : public Transport {
 public:
  FiberNet(FiberScheduler& scheduler, int rank, int size, const std::vector<int>& nodes)
      : scheduler_(scheduler), rank_(rank), size_(size), nodes_(nodes) {}
  using Transport::scratch;
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_of(int rank) const override { return nodes_.empty() ? 0 : nodes_[static_cast<std::size_t>(rank)]; }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

  RankTraffic traffic;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  FiberScheduler& scheduler_;
  const int rank_, size_;
  const std::vector<int>& nodes_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, Transfer> pending_;
  std::int64_t scratch_bytes_ = 0;
};

Request FiberNet::isend(TensorView data, int dst) {
  if (dst < 0 || dst >= size())
    fail(Errc::invalid_argument, "rank {} sends to rank {} of {}", rank_, dst, size());
  ++traffic.messages_sent, traffic.bytes_sent += static_cast<std::int64_t>(data.bytes());
  traffic.sent_to.insert(dst);
  pending_[next_id_] = scheduler_.post_send(rank_, data, dst);
  return Request(this, next_id_++);
}

Request FiberNet::irecv(TensorView data, int src) {
  if (src < any_rank || src >= size())
    fail(Errc::invalid_argument, "rank {} receives from rank {} of {}", rank_, src, size());
  pending_[next_id_] = scheduler_.post_receive(rank_, data, src);
  return Request(this, next_id_++);
}

int FiberNet::wait(std::uint64_t id) {
  const auto node = pending_.extract(id);
  if (node.empty()) fail(Errc::internal, "rank {} waits twice for one Request", rank_);
  const Transfer& transfer = node.mapped();
  scheduler_.wait_for(rank_, transfer);
  const Message& m = *transfer.message;
  if (transfer.is_send) return m.dst;
  ++traffic.messages_received, traffic.bytes_received += static_cast<std::int64_t>(m.to->bytes());
  traffic.received_from.insert(m.src);
  return m.src;
}

bool FiberNet::test(std::uint64_t id) { return scheduler_.poll(rank_, pending_.at(id)); }

void FiberNet::cancel(std::uint64_t id) noexcept {
  if (const auto node = pending_.extract(id)) scheduler_.drop(rank_, node.mapped());
}

Scratch FiberNet::scratch(const TensorView& like, std::int64_t count) {
  TensorView view{nullptr, count, like.dtype, like.device};
  view.data = new std::byte[view.bytes()];
  scratch_bytes_ += static_cast<std::int64_t>(view.bytes());
  traffic.peak_scratch_bytes = std::max(traffic.peak_scratch_bytes, scratch_bytes_);
  return Scratch(this, view);
}

void FiberNet::free_scratch(TensorView view) noexcept {
  scratch_bytes_ -= static_cast<std::int64_t>(view.bytes());
  delete[] view.data;
}

}  // namespace

FiberReport run_fibers(int n, const std::function<void(Transport& net)>& rank_main,
                       const FiberOptions& options) {
  std::vector<std::unique_ptr<FiberNet>> nets;
  const std::function<void(int)> body = [&](int rank) { rank_main(*nets[static_cast<std::size_t>(rank)]); };
  FiberScheduler scheduler(n, options, body);
  for (int r = 0; r < n; ++r) nets.push_back(std::make_unique<FiberNet>(scheduler, r, n, options.nodes));
  scheduler.run();

  FiberReport report;
  for (int r = 0; r < n; ++r) {
    report.ranks.push_back(std::move(nets[static_cast<std::size_t>(r)]->traffic));
    report.ranks.back().rounds = scheduler.clock(r);
    report.rounds = std::max(report.rounds, scheduler.clock(r));
  }
  return report;
}

}  // namespace dist::test
