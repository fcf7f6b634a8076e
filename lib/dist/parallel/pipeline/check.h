// check() says whether a schedule is right, before it runs.
#pragma once

#include <cstdint>
#include <string>

#include "dist/parallel/pipeline/schedule.h"

namespace dist::pipeline {

// How a rank runs consecutive messages.
enum class Messages : std::uint8_t {
  together,    // it starts all of them, and then waits for all
  one_by_one,  // it waits for each before it starts the next: blocking send and recv
};

// Returns one sentence that says what is wrong, with ranks and actions ("#5" is a rank's sixth action), or an
// empty string. It checks in this order, until something is wrong:
// 1. Every action is of a stage of its rank and of a micro-batch that exists. Nothing is missing, and
//    nothing is there twice: one forward, one backward (whole, or input and weight) and the messages between
//    stages on different ranks.
// 2. On each rank, every action comes after what it needs there: a computation after its receives, a send
//    after its computation, backward after forward.
// 3. What is kept in queues is used in that order: a stage runs backward in the order of its forwards, and a
//    rank receives from another one in the order in which that one sends. So no tags are needed.
// 4. No ranks wait for each other in a cycle. The lists are run, without data: a message is complete when
//    its sender and its receiver have both started it, however large it is, and a rank goes on when its
//    messages are complete. An interpreter that waits for less cannot deadlock either.
//
// Why `when_sent` lists (schedule.h) always pass 4: let every computation take one unit of time. Then a
// message that is sent at time t belongs to a step of the sender and to one of the receiver, and both wait
// between two computations of which one ends by t and the other begins at t or later. So both have started
// at t, whatever else they contain.
std::string check(const Schedule& schedule, Messages messages = Messages::together);

}  // namespace dist::pipeline
