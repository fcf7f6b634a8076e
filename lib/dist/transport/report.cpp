// Each *_trouble() function makes one failure: a headline (the rank and its operation), what happened, how
// much had moved, and what to check. The misfit functions say which of kind, dtype, terms, element count and
// size differs; where ranks are in different collectives a finding is added.
#include "dist/transport/report.h"

#include <fmt/format.h>

#include "dist/check/finding.h"
#include "dist/core/counted.h"
#include "dist/transport/opcode.h"

namespace dist::net {
namespace {

// "rank 2: ring_all_reduce #17 (16384 f32)"
std::string headline(int rank, const Op& op) {
  return fmt::format("rank {}: {}", rank, str(op.options.label));
}

std::string peer_name(int peer) { return peer == any_rank ? "any rank" : fmt::format("rank {}", peer); }

std::string check(const Op& op, bool is_send, bool anyone) {
  if (!op.channel().point_to_point)
    return fmt::format("{} alive and calling the same collective?",
                       anyone ? "are the others" : "is that rank");
  const std::string_view deed = is_send ? "posted its receive" : "sent it";
  return fmt::format("{} {}, in this group and with this tag?", anyone ? "has any rank" : "has that rank",
                     deed);
}

bool is_same_kind(std::uint32_t a, std::uint32_t b) { return (a >> 8 & 0xff) == (b >> 8 & 0xff); }

// "send f32" -> "f32"
std::string dtype_in(std::uint32_t opcode) {
  const std::string text = describe_opcode(opcode);
  return text.substr(text.rfind(' ') + 1);
}

// "rank 1 is in broadcast f32 but rank 0 is in all_reduce f32 at the same place (#7)", and a finding where
// the collectives differ, because the other rank may have left before it can be asked. For a message: what is
// sent and what is expected; `rank` is its receiver or, if not `receives`, its sender.
std::string opcode_misfit(int other, std::uint32_t theirs, int rank, std::uint32_t mine, const Op& op,
                          bool receives) {
  const OpLabel& label = op.options.label;
  if (differ_in_terms(theirs, mine) && op.channel().point_to_point)
    return fmt::format(
        "the tensor of one of ranks {} and {} is on a device, and that of the other on the CPU; copy one of "
        "them with .to()",
        other, rank);
  if (differ_in_terms(theirs, mine))
    return fmt::format(
        "rank {} calls it with another root or reduction; all ranks must pass the same "
        "(DIST_DEBUG=detail shows what each passes)",
        other);
  if (op.channel().point_to_point)
    return fmt::format("rank {} {} {} but rank {} {} {}; a message and its receive have one dtype", other,
                       receives ? "sends" : "expects", dtype_in(theirs), rank, receives ? "expects" : "sends",
                       dtype_in(mine));
  const std::string text = fmt::format("rank {} is in {} but rank {} is in {} at the same place (#{})", other,
                                       describe_opcode(theirs), rank, describe_opcode(mine), label.sequence);
  if (given_up_of(theirs) != given_up_of(mine))
    return text +
           "; what one rank does alone, every rank must do: skip a step after an error, leave out a "
           "backward(), "
           "freeze or unfreeze parameters. Let the ranks check their batches and agree, by an all_reduce of "
           "a flag, "
           "before forward()";
  if (is_same_kind(theirs, mine)) return text;
  const check::Finding finding{check::Code::mismatched_collective,
                               fmt::format("rank {} calls {} where rank {} calls {}", other,
                                           describe_opcode(theirs), rank, describe_opcode(mine)),
                               {{rank, str(label), label.where, {}}}};
  return text + "; " + finding.line();
}

// The finding for a transfer whose other side has left in order.
check::Finding waits_in_vain(int rank, const TransferFacts& t) {
  std::vector<int> gone{t.peer};
  if (t.peer == any_rank) {
    gone = t.op->options.members.list();
    std::erase(gone, rank);
  }
  const OpLabel& label = t.op->options.label;
  return check::explain_deadlock({{rank, str(label), label.where, gone}}, gone);
}

// For collectives of different sizes in which two ranks exchange parts of equal size.
std::string elements_misfit(int other, std::uint64_t theirs, int rank, std::uint64_t mine) {
  return fmt::format(
      "rank {} calls it with {} in all, but rank {} with {}; all ranks must pass the same number", other,
      counted(theirs - 1, "element"), rank, mine - 1);
}

constexpr std::string_view sizes_differ = "the sizes of a message and of its receive must be equal";

bool opcodes_differ(std::uint32_t a, std::uint32_t b) { return a != 0 && b != 0 && a != b; }

}  // namespace

Failure timeout_failure(int rank, const TransferFacts& t) {
  const auto waited = std::chrono::steady_clock::now() - t.op->since;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
  const std::string advice = check(*t.op, t.is_send, t.peer == any_rank);
  if (t.bytes == 0)
    return {Errc::timeout,
            fmt::format("{} waited {} ms for {}; {}", headline(rank, *t.op), ms, peer_name(t.peer), advice)};
  return {Errc::timeout, fmt::format("{} {} {} of {} {} {} in {} ms; {}", headline(rank, *t.op),
                                     t.is_send ? "handed over" : "got", t.moved, counted(t.bytes, "byte"),
                                     t.is_send ? "to" : "from", peer_name(t.peer), ms, advice)};
}

Failure peer_failure(int rank, const Op& op, int peer, const PeerState& state, const std::string& first,
                     const std::vector<int>& departed) {
  const std::string end = fmt::format("rank {} {}", peer, state.how);
  std::string text = fmt::format("{}: {}", headline(rank, op), end);
  if (end.find(first) == std::string::npos) text += "; before that, " + first;
  for (const int other : departed)
    if (op.has_member(other)) text += fmt::format("; rank {} had left the job before", other);
  return {Errc::peer_failed, std::move(text)};
}

Failure peer_left_failure(int rank, const TransferFacts& t) {
  const std::string who = t.peer == any_rank ? "all other ranks have" : fmt::format("rank {} has", t.peer);
  std::string text = fmt::format(
      "{}: {} left the job and will not {}; did it end before this operation?", headline(rank, *t.op), who,
      t.bytes == 0 ? "come"
                   : fmt::format("{} {}", t.is_send ? "receive these" : "send the missing",
                                 counted(t.bytes - t.moved, "byte")));
  const bool is_message_sent = t.is_send && t.op->channel().point_to_point;
  if (!is_message_sent) text += "; " + waits_in_vain(rank, t).line();
  return {Errc::peer_failed, std::move(text)};
}

Failure cancelled_failure(int rank, const TransferFacts& t) {
  return {Errc::peer_failed,
          fmt::format("{}: rank {} gave up its {}{}; its own error says why", headline(rank, *t.op), t.peer,
                      t.is_send ? "receive" : "send",
                      t.bytes == 0 ? "" : fmt::format(" of {}", counted(t.bytes, "byte")))};
}

Failure algorithm_failure(int rank, const Op& op, int peer) {
  return {Errc::mismatch,
          fmt::format("{}: rank {} runs it with another algorithm; all ranks must name the same one, or none "
                      "(DIST_ALGO, or the algorithm option)",
                      headline(rank, op), peer)};
}

std::string describe_unreceived(int rank, const Unreceived& message) {
  return fmt::format(
      "rank {} never received what rank {} sent it in {} #{}: did the ranks have different roots, or "
      "different algorithms? (DIST_DEBUG=detail finds it at once)",
      rank, message.source, describe_opcode(message.opcode), message.tag);
}

Failure unreceived_failure(int rank, const Op& op, const Unreceived& message) {
  return {Errc::mismatch, fmt::format("{} comes after a mismatch: {}", headline(rank, op),
                                      describe_unreceived(rank, message))};
}

Failure earlier_failure(int rank, const Op& op, int peer, std::uint32_t theirs, std::uint32_t mine) {
  const std::string difference =
      differ_in_terms(theirs, mine)
          ? fmt::format("{} with different roots or reductions", describe_opcode(mine))
          : fmt::format("{} on rank {} and {} on rank {}", describe_opcode(theirs), peer,
                        describe_opcode(mine), rank);
  return {
      Errc::mismatch,
      fmt::format("{} comes after a mismatch with rank {}: the collective before it was {}; all ranks must "
                  "call the same (DIST_DEBUG=detail finds it at once)",
                  headline(rank, op), peer, difference)};
}

Failure aborted_failure(int rank, const Op& op, const std::string& reason) {
  return {Errc::aborted, fmt::format("{}: {}", headline(rank, op), reason)};
}

Failure misfit_at_receiver(int rank, const TransferFacts& t, const Misfit& message, int sender) {
  const std::uint32_t mine = t.op->channel().opcode;
  if (opcodes_differ(mine, message.opcode))
    return {Errc::mismatch, fmt::format("{}: {}", headline(rank, *t.op),
                                        opcode_misfit(sender, message.opcode, rank, mine, *t.op, true))};
  if (message.bytes == t.bytes)
    return {Errc::mismatch,
            fmt::format("{}: {}", headline(rank, *t.op),
                        elements_misfit(sender, message.elements, rank, t.op->channel().elements))};
  return {Errc::mismatch, fmt::format("{} expects {} from rank {}, which sent {}; {}", headline(rank, *t.op),
                                      counted(t.bytes, "byte"), sender, message.bytes, sizes_differ)};
}

Failure misfit_at_sender(int rank, const Op& op, const TransferFacts* t, const Misfit& refusal,
                         int receiver) {
  const std::uint32_t mine = op.channel().opcode;
  if (opcodes_differ(mine, refusal.opcode))
    return {Errc::mismatch, fmt::format("{}: {}", headline(rank, op),
                                        opcode_misfit(receiver, refusal.opcode, rank, mine, op, false))};
  if (const std::uint64_t elements = op.channel().elements;
      elements_differ(refusal.elements, elements) && (!t || t->bytes == refusal.bytes))
    return {Errc::mismatch, fmt::format("{}: {}", headline(rank, op),
                                        elements_misfit(receiver, refusal.elements, rank, elements))};
  const std::string sent = t ? counted(t->bytes, "byte") : "a message of another size";
  return {Errc::mismatch, fmt::format("{} sent {} to rank {}, which expects {}; {}", headline(rank, op), sent,
                                      receiver, refusal.bytes, sizes_differ)};
}

}  // namespace dist::net
