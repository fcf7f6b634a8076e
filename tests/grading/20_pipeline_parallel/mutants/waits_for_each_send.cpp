// Misconception: a message has been sent when its send has been waited for, so each of them is waited for at
// once. (The receiver may be busy.)
//
// Killed by: Part3Step.a_send_delays_no_computation
// Diagnosis: waits_for_its_sends
#include "mutant.h"
#define emplace_back(tensor, work) emplace_back(tensor, (dist::Work(work).wait(), work))
#include DIST_SOLUTION
