// The flame graph, the table and the method that is chosen in either.
import { Graph } from './graph.js';
import { Table, showOne } from './table.js';
import { $ } from './dom.js';

export class Views {
	constructor(model, columns) {
		this.model = model;
		this.frame = -1;
		this.graph = new Graph(model, (frame) => this.choose(frame));
		this.table = new Table(model, columns, (frame) => this.go(frame));
	}

	choose(frame) {
		this.frame = frame;
		this.table.frame = frame;
		this.table.draw();
		this.showOne();
	}

	go(frame) {
		this.choose(frame);
		$('one-head').scrollIntoView({ block: 'center' });
	}

	showOne() {
		showOne(this.model, this.frame, (frame) => this.go(frame));
	}

	// After a count.
	draw() {
		this.table.draw();
		this.showOne();
		this.graph.reset();
		this.graph.search();
	}
}
