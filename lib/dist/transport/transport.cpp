#include "dist/transport/transport.h"

#include <utility>

#include "dist/core/fail.h"

namespace dist {

Request::Request(Request&& other) noexcept
    : transport_(std::exchange(other.transport_, nullptr)), id_(other.id_) {}

Request& Request::operator=(Request&& other) noexcept {
  std::swap(transport_, other.transport_);
  std::swap(id_, other.id_);
  return *this;
}

Request::~Request() {
  if (transport_) transport_->cancel(id_);
}

int Request::wait() {
  if (!transport_)
    fail(Errc::internal, "wait() on a request that was never started, or was waited for already");
  return std::exchange(transport_, nullptr)->wait(id_);
}

bool Request::is_completed() { return !transport_ || transport_->test(id_); }

bool Request::is_short() const { return transport_ && transport_->is_short(id_); }

Scratch::Scratch(Scratch&& other) noexcept
    : transport_(std::exchange(other.transport_, nullptr)), view_(std::exchange(other.view_, {})) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(transport_, other.transport_);
  std::swap(view_, other.view_);
  return *this;
}

Scratch::~Scratch() {
  if (transport_) transport_->free_scratch(view_);
}

TensorView Scratch::of(const TensorView& like) const {
  if (like.bytes() > view_.bytes())
    fail(Errc::internal, "scratch memory of {} bytes cannot hold {}", view_.bytes(), like.bytes());
  return {view_.data, like.count, like.dtype, view_.device};
}

void send_recv(Transport& net, TensorView out, int dst, TensorView in, int src) {
  Request got = net.irecv(in, src);
  Request put = net.isend(out, dst);
  got.wait();
  put.wait();
}

}  // namespace dist
