/* packet_template.h for elements of BYTES bytes and each type of index and of places inside a bin. */
#define I int32_t
#define I_NAME i32
#define L uint16_t
#define L_NAME u16
#include "packet_template.h"
#undef L
#undef L_NAME
#define L uint32_t
#define L_NAME u32
#include "packet_template.h"
#undef I
#undef I_NAME
#define I int64_t
#define I_NAME i64
#include "packet_template.h"
#undef L
#undef L_NAME
#define L uint16_t
#define L_NAME u16
#include "packet_template.h"
#undef L
#undef L_NAME
#undef I
#undef I_NAME
#undef BYTES
