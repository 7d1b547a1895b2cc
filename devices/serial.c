/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 16550A UART (PC16550D data sheet, section 8), byte registers at HUSK_SERIAL_MMIO and at port
 * 0x3f8. The transmitter is infinitely fast. Its interrupt line is ISA's 4; in a machine without PIC
 * and IOAPIC it goes nowhere, but IER, IIR and LSR behave as if it did, so that polling drivers work.
 * Nothing is received except in loopback mode and by serial_receive().
 */
#include "devices/serial.h"

#include <errno.h>
#include <libfdt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "devices/fdt_reg.h"
#include "husk/layout.h"

#define SERIAL_PORT	0x3f8
#define SERIAL_REGS	8
#define SERIAL_IRQ	4
#define SERIAL_FIFO	16
#define SERIAL_CLOCK_HZ	1843200

enum {			/* register offsets; several share one (DLAB, read/write) */
	UART_DATA = 0,	/* RBR, THR; DLL */
	UART_IER = 1,	/* DLM */
	UART_IIR = 2,	/* FCR when written */
	UART_LCR = 3,
	UART_MCR = 4,
	UART_LSR = 5,
	UART_MSR = 6,
	UART_SCR = 7,
};

#define IER_RX		0x01
#define IER_TX		0x02
#define IER_LINE	0x04
#define IER_MODEM	0x08
#define IER_MASK	0x0f
#define IIR_NONE	0x01
#define IIR_MODEM	0x00
#define IIR_TX		0x02
#define IIR_RX		0x04
#define IIR_LINE	0x06
#define IIR_TIMEOUT	0x0c
#define IIR_FIFO	0xc0
#define FCR_ENABLE	0x01
#define FCR_CLEAR_RX	0x02
#define FCR_TRIGGER	0xc0
#define LCR_DLAB	0x80
#define MCR_MASK	0x1f
#define MCR_DTR		0x01
#define MCR_RTS		0x02
#define MCR_OUT1	0x04
#define MCR_OUT2	0x08
#define MCR_LOOP	0x10
#define LSR_READY	0x01
#define LSR_OVERRUN	0x02
#define LSR_TX_EMPTY	0x60
#define MSR_DCTS	0x01
#define MSR_DDSR	0x02
#define MSR_TERI	0x04
#define MSR_DDCD	0x08
#define MSR_CTS		0x10
#define MSR_DSR		0x20
#define MSR_RI		0x40
#define MSR_DCD		0x80

/* Lock r: all that has no other letter. */
struct serial {
	struct device dev;
	serial_output_fn *out;
	void *out_arg;
	serial_room_fn *room;
	void *room_arg;
	pthread_mutex_t lock;
	uint8_t ier, fcr, lcr, mcr, scr, lsr, msr;	/* r */
	uint8_t dll, dlm;				/* r */
	bool tx_pending;				/* r: THRE interrupt not yet taken */
	uint8_t fifo[SERIAL_FIFO];			/* r: received */
	unsigned fifo_head, fifo_len;			/* r */
	bool irq;					/* r: level of the line */
};

static unsigned fifo_size(const struct serial *s)
{
	return s->fcr & FCR_ENABLE ? SERIAL_FIFO : 1;
}

static void fifo_put(struct serial *s, uint8_t c)
{
	if (s->fifo_len == fifo_size(s)) {
		s->lsr |= LSR_OVERRUN;
		if (s->fcr & FCR_ENABLE)
			return;		/* a FIFO keeps what it has, the single register does not */
		s->fifo_len = 0;
	}
	s->fifo[(s->fifo_head + s->fifo_len++) % SERIAL_FIFO] = c;
	s->lsr |= LSR_READY;
}

static uint8_t fifo_get(struct serial *s)
{
	uint8_t c = 0;

	if (s->fifo_len) {
		c = s->fifo[s->fifo_head];
		s->fifo_head = (s->fifo_head + 1) % SERIAL_FIFO;
		s->fifo_len--;
	}
	if (!s->fifo_len)
		s->lsr &= ~LSR_READY;
	return c;
}

/* Modem lines: a host that is always there, or the outputs turned round in loopback mode. */
static void modem_update(struct serial *s)
{
	uint8_t lines = MSR_CTS | MSR_DSR | MSR_DCD, changed;

	if (s->mcr & MCR_LOOP)
		lines = (s->mcr & MCR_RTS ? MSR_CTS : 0) | (s->mcr & MCR_DTR ? MSR_DSR : 0) |
			(s->mcr & MCR_OUT1 ? MSR_RI : 0) | (s->mcr & MCR_OUT2 ? MSR_DCD : 0);
	changed = (s->msr ^ lines) & 0xf0;
	s->msr = (s->msr & 0x0f) | lines;
	s->msr |= (changed >> 4) & (MSR_DCTS | MSR_DDSR | MSR_DDCD);
	if ((changed & MSR_RI) && !(lines & MSR_RI))
		s->msr |= MSR_TERI;	/* trailing edge only */
}

/* The highest pending interrupt. */
static uint8_t iir_value(const struct serial *s)
{
	static const uint8_t trigger[] = { 1, 4, 8, 14 };
	uint8_t fifo = s->fcr & FCR_ENABLE ? IIR_FIFO : 0;

	if ((s->ier & IER_LINE) && (s->lsr & LSR_OVERRUN))
		return fifo | IIR_LINE;
	if ((s->ier & IER_RX) && s->fifo_len)
		return fifo | (!fifo || s->fifo_len >= trigger[(s->fcr & FCR_TRIGGER) >> 6] ?
			       IIR_RX : IIR_TIMEOUT);
	if ((s->ier & IER_TX) && s->tx_pending)
		return fifo | IIR_TX;
	if ((s->ier & IER_MODEM) && (s->msr & 0x0f))
		return fifo | IIR_MODEM;
	return fifo | IIR_NONE;
}

/* Reading the register takes the transmitter's interrupt. */
static uint8_t iir_read(struct serial *s)
{
	uint8_t v = iir_value(s);

	if ((v & ~IIR_FIFO) == IIR_TX)
		s->tx_pending = false;
	return v;
}

/* After each change of state. The line reaches the bus only if OUT2 lets it, as on a PC. */
static void irq_update(struct serial *s)
{
	bool level = !(iir_value(s) & IIR_NONE) && (s->mcr & (MCR_OUT2 | MCR_LOOP)) == MCR_OUT2;

	if (level != s->irq)
		bus_irq(s->dev.bus, SERIAL_IRQ, level);
	s->irq = level;
}

static uint8_t reg_read(struct serial *s, unsigned reg)
{
	bool dlab = s->lcr & LCR_DLAB;
	uint8_t v;

	switch (reg) {
	case UART_DATA:
		return dlab ? s->dll : fifo_get(s);
	case UART_IER:
		return dlab ? s->dlm : s->ier;
	case UART_IIR:
		return iir_read(s);
	case UART_LCR:
		return s->lcr;
	case UART_MCR:
		return s->mcr;
	case UART_LSR:
		v = s->lsr | LSR_TX_EMPTY;
		s->lsr &= ~LSR_OVERRUN;
		return v;
	case UART_MSR:
		v = s->msr;
		s->msr &= 0xf0;
		return v;
	default:
		return s->scr;
	}
}

/* A byte to transmit is the caller's to send, outside the lock: returns whether there is one. */
static bool reg_write(struct serial *s, unsigned reg, uint8_t v)
{
	bool dlab = s->lcr & LCR_DLAB;

	switch (reg) {
	case UART_DATA:
		if (dlab) {
			s->dll = v;
			return false;
		}
		s->tx_pending = true;
		if (!(s->mcr & MCR_LOOP))
			return true;
		fifo_put(s, v);
		return false;
	case UART_IER:
		if (dlab) {
			s->dlm = v;
			return false;
		}
		if (!(s->ier & IER_TX) && (v & IER_TX))
			s->tx_pending = true;	/* the holding register is empty */
		s->ier = v & IER_MASK;
		return false;
	case UART_IIR:
		if ((v ^ s->fcr) & FCR_ENABLE || v & FCR_CLEAR_RX) {
			s->fifo_len = 0;
			s->lsr &= ~LSR_READY;
		}
		s->fcr = v & FCR_ENABLE ? v & (FCR_ENABLE | FCR_TRIGGER) : 0;
		return false;
	case UART_LCR:
		s->lcr = v;
		return false;
	case UART_MCR:
		s->mcr = v & MCR_MASK;
		modem_update(s);
		return false;
	case UART_SCR:
		s->scr = v;
		return false;
	default:
		return false;		/* LSR and MSR: factory test only */
	}
}

/*
 * A driver tries IER and clears the FIFO while it finds out what the chip is; so nothing is put in
 * before receive interrupts are enabled and can reach the bus.
 */
static bool input_enabled(const struct serial *s)
{
	return (s->ier & IER_RX) && (s->mcr & (MCR_OUT2 | MCR_LOOP)) == MCR_OUT2;
}

static bool input_wanted(const struct serial *s)
{
	return input_enabled(s) && !s->fifo_len;
}

static void serial_read(struct device *dev, struct access *acc)
{
	struct serial *s = (struct serial *)dev;
	bool wanted;

	if (acc->len != 1)
		return;
	pthread_mutex_lock(&s->lock);
	wanted = input_wanted(s);
	acc->val = reg_read(s, acc->off);
	wanted = !wanted && input_wanted(s);
	irq_update(s);
	pthread_mutex_unlock(&s->lock);
	if (wanted && s->room)
		s->room(s->room_arg);
}

static void serial_write(struct device *dev, struct access *acc)
{
	struct serial *s = (struct serial *)dev;
	char c = (char)acc->val;
	bool send;
	bool wanted;

	if (acc->len != 1)
		return;
	pthread_mutex_lock(&s->lock);
	wanted = input_wanted(s);
	send = reg_write(s, acc->off, acc->val);
	wanted = !wanted && input_wanted(s);
	irq_update(s);
	pthread_mutex_unlock(&s->lock);
	if (send)
		s->out(s->out_arg, &c, 1);
	if (wanted && s->room)
		s->room(s->room_arg);
}

static void serial_reset(struct device *dev)
{
	struct serial *s = (struct serial *)dev;

	pthread_mutex_lock(&s->lock);
	s->ier = s->fcr = s->lcr = s->mcr = s->scr = s->lsr = 0;
	s->msr = MSR_CTS | MSR_DSR | MSR_DCD;
	s->dll = 1;			/* 115200 baud */
	s->dlm = 0;
	s->tx_pending = false;
	s->fifo_len = 0;
	irq_update(s);
	pthread_mutex_unlock(&s->lock);
}

static int serial_fdt(struct device *dev, void *fdt, int parent)
{
	int node = fdt_add_device(fdt, parent, "serial", "ns16550a", HUSK_SERIAL_MMIO, SERIAL_REGS);

	if (node < 0)
		return node;
	return fdt_setprop_u32(fdt, node, "clock-frequency", SERIAL_CLOCK_HZ) < 0 ? -ENOSPC : 0;
}

static void serial_release(struct device *dev)
{
	pthread_mutex_destroy(&((struct serial *)dev)->lock);
	free(dev);
}

static const struct device_ops serial_ops = {
	.name = "serial",
	.read = serial_read,
	.write = serial_write,
	.reset = serial_reset,
	.fdt = serial_fdt,
	.release = serial_release,
};

size_t serial_receive(struct device *dev, const char *bytes, size_t len)
{
	struct serial *s = (struct serial *)dev;
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	while (n < len && input_enabled(s) && s->fifo_len < fifo_size(s))
		fifo_put(s, (uint8_t)bytes[n++]);
	irq_update(s);
	pthread_mutex_unlock(&s->lock);
	return n;
}

void serial_on_room(struct device *dev, serial_room_fn *room, void *arg)
{
	((struct serial *)dev)->room = room;
	((struct serial *)dev)->room_arg = arg;
}

struct device *serial_new(struct bus *bus, serial_output_fn *out, void *arg)
{
	struct serial *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return NULL;
	s->dev = (struct device){ &serial_ops, bus };
	s->out = out;
	s->out_arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	serial_reset(&s->dev);
	ret = bus_map(bus, &s->dev, BUS_MMIO, HUSK_SERIAL_MMIO, SERIAL_REGS, 0);
	if (!ret)
		ret = bus_map(bus, &s->dev, BUS_PIO, SERIAL_PORT, SERIAL_REGS, 1);
	if (ret) {
		bus_unmap(bus, &s->dev, BUS_MMIO, HUSK_SERIAL_MMIO);
		serial_release(&s->dev);
		errno = -ret;
		return NULL;
	}
	return &s->dev;
}
