#include "dist/transport/transport.h"

#include "dist/core/fail.h"

namespace dist {

void Request::Cancel::operator()(Transport* transport) const noexcept { transport->cancel(id); }

int Request::wait() {
  if (!transfer_)
    fail(Errc::internal, "wait() on a request that was never started, or was waited for already");
  return transfer_.release()->wait(transfer_.get_deleter().id);
}

bool Request::is_completed() { return !transfer_ || transfer_->test(transfer_.get_deleter().id); }

bool Request::is_short() const { return transfer_ && transfer_->is_short(transfer_.get_deleter().id); }

void Scratch::Free::operator()(Transport* transport) const noexcept { transport->free_scratch(view); }

TensorView Scratch::of(const TensorView& like) const {
  const TensorView memory = all();
  if (like.bytes() > memory.bytes())
    fail(Errc::internal, "scratch memory of {} bytes cannot hold {}", memory.bytes(), like.bytes());
  return {memory.data, like.count, like.dtype, memory.device};
}

void send_recv(Transport& net, TensorView out, int dst, TensorView in, int src) {
  Request got = net.irecv(in, src);
  Request put = net.isend(out, dst);
  got.wait();
  put.wait();
}

}  // namespace dist
